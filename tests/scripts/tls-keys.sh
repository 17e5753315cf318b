#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# TLS whose keys are known is as the same conversation in the clear: each version and cipher, in
# recordings that OpenSSL makes in memory, and of OpenSSL's and GnuTLS' own programs over the
# loopback. Without keys, or with others, it is as it was. TAP.
# shellcheck disable=SC2181,SC2209,SC2317 # the status may be any; functions are called by other names
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
record=$source/tests/scripts/tls-recordings.py
cd "$dir" || exit 99
if ! python3 "$record" memory . >/dev/null 2>err; then
	grep -q 'No module\|not found\|FileNotFound' err && skip_all 'no python3 with ssl, or no openssl'
	cat err >&2
fi

messages() { # ARGUMENT...: of a trace, without their ids and the parts of syn= and dur=
	"$ravel" capture --labels "$@" 2>err | tee trace | grep -v '^#' | cut -f1-4,6- |
		sed 's/ \(tcp\|tls\|login\|way\)=[0-9]*//g'
}

fact() { # KEY
	sed -n "s/^# $1: //p" trace | grep . || echo 0
}

for keys in *.keys; do
	name=${keys%.keys}
	messages -r "$name.clear.pcap" >want
	messages -r "$name.pcap" --tls-keys "$keys" >got
	[ -s want ] && cmp got want && [ "$(fact 'TLS connections opened by their keys')" -gt 0 ] &&
		! grep '^# TLS.*not opened' trace
	result $? "$name" err
done

# --- keys that are missing, wrong, late, or in the recording -------------------
one=13-TLS_AES_128_GCM_SHA256
messages -r $one.clear.pcap >want
messages -r $one.pcap >without
[ "$(grep -c CALL without)" -lt 9 ] && ! grep -q '^# TLS' trace
result $? 'without keys' trace
sed 's/[0-9a-f]\{4\}$/0000/' $one.keys >wrong
chmod 600 wrong
messages -r $one.pcap --tls-keys wrong >got
cmp got without && [ "$(fact 'TLS connections not opened: the keys are not theirs')" = 1 ]
result $? 'keys that are not theirs: as without, and said' trace
messages -r $one.pcap --tls-keys 12-resumed.keys >got
cmp got without && [ "$(fact 'TLS connections not opened: no keys for them')" = 1 ]
result $? 'keys of others: as without, and said' trace
grep -v HANDSHAKE $one.keys >some
chmod 600 some
messages -r $one.pcap --tls-keys some >got
cmp got want
result $? 'without the secrets of the handshake' err
grep -v CLIENT_TRAFFIC $one.keys >some
messages -r $one.pcap --tls-keys some >got
cmp got without
result $? 'with those of one side only' err
python3 "$record" secrets $one.pcap $one.keys with.pcapng
messages -r with.pcapng >got
cmp got want
result $? 'keys in the recording' err
messages -r <(cat $one.pcap) --tls-keys $one.keys >got
cmp got want
result $? 'from a pipe' err

: >late
chmod 600 late
{
	head -c 4000 $one.pcap # the handshake, and the beginning of a request
	sleep 0.3
	cat $one.keys >>late
	tail -c +4001 $one.pcap
} | messages -r - --tls-keys late >got
cmp got want
result $? 'keys that come late' err
chmod 644 late
messages -r $one.pcap --tls-keys late >got
cmp got want && grep -q 'late: others may read it (mode 0644)' err
result $? 'a file that others may read' err
messages -r $one.pcap --tls-keys $one.pcap >got
! [ -s got ] && grep -q 'not a key log' err
result $? 'a file that is none' err
messages -r $one.pcap --tls-keys none >got
! [ -s got ] && grep -q 'none: No such file' err
result $? 'no file' err
{ echo 'CLIENT_RANDOM 12 34'; cat $one.keys; } >some
messages -r $one.pcap --tls-keys some >got
cmp got want && grep -q '1 line is not of a key log' err
result $? 'a broken line' err
"$ravel" capture -r $one.pcap --tls-keys late -w late 2>err
[ $? = 2 ] && [ -s late ]
result $? 'they are not written over' err

# --- what was not captured -----------------------------------------------------
for kind in 12-ECDHE-RSA-AES256-GCM-SHA384 12-ECDHE-RSA-AES128-SHA $one; do
	python3 "$record" lose "$kind".pcap lossy.pcap 40 60
	messages -r lossy.pcap --tls-keys "$kind".keys >got
	[ "$(grep -c CALL got)" -ge 5 ] && grep -q 'POST%20/item' got && [ "$(fact 'holes skipped')" -gt 0 ]
	result $? "$kind: segments lost" trace
	python3 "$record" lose "$kind".pcap lossy.pcap 0 5
	messages -r lossy.pcap --tls-keys "$kind".keys >got
	! grep -q 'POST' got && [ "$(fact 'TLS connections not opened: handshake not seen whole')" = 1 ]
	result $? "$kind: begun before the capture" trace
done

# --- other programs ------------------------------------------------------------
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

wait_for() { # PORT
	for _ in $(seq 100); do
		(: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
		sleep 0.05
	done
}

# through RELAY COMMAND...: a client through the relay to the server on port $server
through() {
	relay=$(port)
	: >listening # what the one before said, says nothing of this
	python3 "$record" relay told.pcap "$relay" "$server" >listening &
	relay_pid=$!
	for _ in $(seq 100); do
		[ -s listening ] && break
		sleep 0.05
	done
	"$@"
	wait $relay_pid
}

reversed() { awk '{ for (i = length($0); i > 0; i--) printf "%s", substr($0, i, 1); print "" }'; }

say() { # LINE...: each once the one before was answered, with what $answer makes of it
	sleep 0.5
	for line; do
		echo "$line"
		case $line in
		? | ^*) sleep 0.3 ;; # a command
		*)
			answered=$(echo "$line" | $answer)
			for _ in $(seq 200); do
				grep -q "^$answered" out && break
				sleep 0.05
			done
			sleep 0.1
			;;
		esac
	done
}

openssl_client() { # LINES OPTION...
	local lines=$1
	shift
	eval "say $lines" | openssl s_client -connect "127.0.0.1:$relay" -keylogfile openssl.keys "$@" >out 2>&1
}

answer=reversed
server=$(port)
openssl s_server -accept "127.0.0.1:$server" -cert cert.pem -key key.pem -rev -client_renegotiation >served 2>&1 &
openssl_pid=$!
wait_for "$server"
for version in -tls1_2 -tls1_3; do
	: >openssl.keys
	chmod 600 openssl.keys
	anew=K # the command for new keys
	[ "$version" != -tls1_2 ] || anew=R
	through openssl_client "one $anew two three" $version
	messages -r told.pcap --tls-keys openssl.keys >got
	[ "$(grep -c CALL got)" = 3 ] && [ "$(grep -c RET got)" = 3 ] &&
		! grep '^# TLS.*not opened' trace
	result $? "OpenSSL, $version, with new keys in the middle" trace
done
kill $openssl_pid
wait $openssl_pid 2>/dev/null

# A request that begins before the server has said anything; whether it takes that is its choice.
printf 'POST /early HTTP/1.1\r\nContent-Length: 6\r\n\r\n' >early
unanswered() { # until the client has said what became of its data
	local turn
	for ((turn = 0; turn < 300; turn++)); do
		! grep -q 'Early data was' out || break
		sleep 0.1
	done
	echo .
}
answer=unanswered
for taken in 1 0; do
	server=$(port)
	early=-early_data
	openssl s_server -accept "127.0.0.1:$server" -cert cert.pem -key key.pem $early -no_anti_replay \
		>served 2>&1 < <(sleep 60) &
	openssl_pid=$!
	wait_for "$server"
	: >openssl.keys
	chmod 600 openssl.keys
	through openssl_client "hello" -sess_out session
	if [ $taken = 0 ]; then # another server: it knows nothing of the session
		kill $openssl_pid
		wait $openssl_pid 2>/dev/null
		server=$(port)
		openssl s_server -accept "127.0.0.1:$server" -cert cert.pem -key key.pem $early \
			>served 2>&1 < <(sleep 60) &
		openssl_pid=$!
		wait_for "$server"
	fi
	# What OpenSSL says of it counts: on a busy machine its server may refuse a ticket as too old,
	# or nobody listens yet.
	for _ in 1 2 3; do
		through openssl_client "hello" -sess_in session -early_data early
		! grep -q 'Early data was' out || break
	done
	[ $taken = 0 ] || grep -q 'Early data was accepted' out || taken=0
	messages -r told.pcap --tls-keys openssl.keys >got
	[ "$(grep -c POST%20/early got)" = $taken ] && ! grep '^# TLS.*not opened' trace &&
		[ "$(fact 'TLS connections opened by their keys')" = 1 ]
	result $? "early data, taken: $taken" trace
	kill $openssl_pid
	wait $openssl_pid 2>/dev/null
done

if command -v gnutls-serv >/dev/null; then
	server=$(port)
	gnutls-serv --echo -p "$server" --x509certfile cert.pem --x509keyfile key.pem >served 2>&1 &
	gnutls_pid=$!
	wait_for "$server"
	answer=cat
	gnutls_client() { # PRIORITY COMMAND
		say one two "$2" three | SSLKEYLOGFILE=gnutls.keys gnutls-cli --inline-commands \
			--insecure --priority "$1" -p "$relay" 127.0.0.1 >out 2>&1
	}
	for priority in NORMAL:-VERS-ALL:+VERS-TLS1.3 NORMAL:-VERS-ALL:+VERS-TLS1.2 \
		NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CBC; do
		rm -f gnutls.keys
		anew='^renegotiate^'
		[ ${priority%1.3} = $priority ] || anew='^rekey^'
		through gnutls_client $priority $anew
		messages -r told.pcap --tls-keys gnutls.keys >got
		[ "$(grep -c CALL got)" = 3 ] && [ "$(grep -c RET got)" = 3 ] &&
			! grep '^# TLS.*not opened' trace
		result $? "GnuTLS, $priority, with new keys in the middle" trace
	done
	kill $gnutls_pid
	wait $gnutls_pid 2>/dev/null
fi
finish
