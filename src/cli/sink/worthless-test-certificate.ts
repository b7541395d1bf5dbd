/**
 * WORTHLESS TEST MATERIAL. This key is published with the source: whoever can read this can pretend to be the sink.
 * It is here because Node can use certificates but not make them, and a test server must not need openssl to start.
 * Self-signed, for localhost, 127.0.0.1 and ::1, valid from 2020 to 2120, so that no test fails for its date.
 */
export const WORTHLESS_TEST_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgApSrNLRc3ISV7vAV
hJTkVdC1B/M/yPx7vMWSwtDfZW6hRANCAASRG5g7iY9v9h55YL663nkzwf6KvX4i
oKBO+LSvMNWI6utAd5tp8js+G+cMieEsXTXyJ6mJwCzdz/0tvhf0B8p+
-----END PRIVATE KEY-----
`

export const WORTHLESS_TEST_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBsTCCAVigAwIBAgIBATAKBggqhkjOPQQDAjBAMSowKAYDVQQKDCFQb3N0cmlk
ZXIgd29ydGhsZXNzIHRlc3QgbWF0ZXJpYWwxEjAQBgNVBAMMCWxvY2FsaG9zdDAg
Fw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowQDEqMCgGA1UECgwhUG9z
dHJpZGVyIHdvcnRobGVzcyB0ZXN0IG1hdGVyaWFsMRIwEAYDVQQDDAlsb2NhbGhv
c3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASRG5g7iY9v9h55YL663nkzwf6K
vX4ioKBO+LSvMNWI6utAd5tp8js+G+cMieEsXTXyJ6mJwCzdz/0tvhf0B8p+o0Ew
PzAsBgNVHREEJTAjgglsb2NhbGhvc3SHBH8AAAGHEAAAAAAAAAAAAAAAAAAAAAEw
DwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiAk81gqBZ6GXgNlyzBr
HUAsrciLB1iV8JDmyIQfdbSk2AIgBxSsL+zt1oSnR19i0lHLSyvUR2scwxx0At4D
MLQLt6Y=
-----END CERTIFICATE-----
`
