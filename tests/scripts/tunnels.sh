#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# One conversation in each tunnel and link layer is as the same conversation in bare IP, also where tshark
# reads it; what cannot be opened is named; and --tunnel and --proxy-protocol say what packets do not. TAP.
# shellcheck source=tests/scripts/tap.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/scripts/tap.sh"
command -v python3 >/dev/null || skip_all 'python3 is not installed'
cd "$dir" || exit 99
python3 "$source/tests/scripts/make-tunnels.py" || exit 99

messages() { # ARGUMENT...
	"$ravel" capture --host '' "$@" 2>err | grep -v '^#'
}

for version in 4 6; do
	messages plain-$version.pcap >want.$version
	[ "$(grep -c 'CALL' want.$version)" = 17 ]
	result $? "the conversation in IPv$version" err
	: >bad
	for file in *."$version".pcap; do
		messages "$file" >got
		cmp -s got want.$version || { echo "$file" && cat err; } >>bad
	done
	[ ! -s bad ]
	result $? "and in all that carries it" bad
done

# Where tshark has a port or a type for it, it finds as many requests.
if command -v tshark >/dev/null; then
	for file in vxlan vxlan-gpe geneve geneve-ip gtp-u gtp-u-sequence l2tp tzsp lisp mpls-2 mpls gre vn-tag \
		e-tag pbb trill nsh macsec ah ah-tunnel c-hdlc ppp-serial juniper pktap frame-relay 802.11 radiotap ppi; do
		tshark -r $file.4.pcap -Y 'http.request || dns.flags.response == 0' 2>/dev/null | grep -c . |
			sed "s/^/$file /"
	done | grep -v ' 17$' >bad
	[ ! -s bad ]
	result $? 'tshark finds as many' bad
fi

# Of a port whose content cannot tell: no IPv4 header has its checksum.
python3 - <<'END'
data = open('vxlan-any.4.pcap', 'rb').read()
at, out, system = 24, data[:24], data[:24]
while at < len(data):
    n = int.from_bytes(data[at + 8:at + 12], 'little')
    head, frame = data[at:at + 16], bytearray(data[at + 16:at + 16 + n])
    frame[28 + 8 + 14 + 10:28 + 8 + 14 + 12] = b'\0\0'
    out += head + bytes(frame)
    frame[22:24] = b'\0\x45'
    system += head + bytes(frame)
    at += 16 + n
open('said.pcap', 'wb').write(out)
open('system.pcap', 'wb').write(system)
END
messages said.pcap >got
grep -q 'if they are a tunnel.s, say of which kind with --tunnel 21212=KIND' err && ! grep -q CALL got
result $? 'a port that may be a tunnel is named' err
messages system.pcap >got
grep -q 'no call was found.*: check the interface' err
result $? 'none of the system' err
messages --tunnel 21212=vxlan said.pcap >got
cmp got want.4
result $? '--tunnel opens it' err
"$ravel" capture --tunnel 21212=vxlam said.pcap >/dev/null 2>err
[ $? = 2 ] && grep -q 'KIND one of vxlan, vxlan-gpe, geneve,' err
result $? 'a kind that there is not' err

# MACsec that encrypts: 2c where 20 was.
python3 -c '
data = open("macsec.4.pcap", "rb").read()
open("encrypted.pcap", "wb").write(data.replace(b"\x88\xe5\x20", b"\x88\xe5\x2c"))'
messages encrypted.pcap >got
grep -q '46 of 46 packets are of EtherType 0x88e5, MACsec with encryption' err && [ ! -s got ]
result $? 'what cannot be opened is named' err

# A proxy's header, and whom it names.
python3 - "$source/tests/scripts" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
made = __import__('make-tunnels').made
packets = []
for k in range(3):
    c = made.Connection(packets, 1000 * k, '10.0.0.1', '10.0.0.2', (40000 + k, 80))
    c.packet(1000 * k + 50, 0, 24, b'PROXY TCP4 192.0.2.%d 10.0.0.1 50000 80\r\n' % (k + 1))
    for i in range(2):
        c.call(10000 * i + 1000 * k + 100, b'GET /item HTTP/1.1\r\nHost: a\r\n\r\n', 10000 * i + 1000 * k + 500,
               made.page(b'x'))
__import__('make-tunnels').pcap('proxied', 101, sorted(packets))
END
messages proxied.pcap >got
[ "$(grep -c 'CALL_SENT.10.0.0.1.10.0.0.2.*label=GET' got)" = 6 ] && [ "$(grep -c RET_SENT got)" = 6 ]
result $? 'behind the header of a proxy' got
messages --proxy-protocol proxied.pcap >got
[ "$(cut -f3 got | grep -v '10.0.0.2' | sort | uniq -c | tr -s ' \n' ' ')" = ' 2 192.0.2.1 2 192.0.2.2 2 192.0.2.3 ' ]
result $? '--proxy-protocol names the callers' got
finish
