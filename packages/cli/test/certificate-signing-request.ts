// PKCS #10 certificate signing request for tests.

/** Made with openssl, for CN=test. */
export const signingRequest = `-----BEGIN CERTIFICATE REQUEST-----
MIHJMHECAQAwDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABN2DSaqmyAEHwmdiW1Ux2E6cpXiXKnCklY6ZifI4kEsMt5ED8eYLXAXYvCog
Pj0ZRhMTAsXIVsfyMu1xeJgwyl6gADAKBggqhkjOPQQDAgNIADBFAiB16WCqfwkm
5kVai6juhj1kpsxc9L3mM7rl0HF6uazm8QIhAJsJSHyXq++88C+ZSlKa7YzBBHcE
XBuAjjR48QnRf+01
-----END CERTIFICATE REQUEST-----
`
