# Operations of the calls of a trace: of the client, of catalog, of its queries in turn.
/CALL_SENT.client/s|$|	label=GET%20/cart|
/CALL_SENT.web1/s|$|	label=search|
/CALL_SENT.*[02468]$/s|$|	label=SELECT%20items|
/CALL_SENT.catalog.*[1357]$/s|$|	label=UPDATE%20stock|
