// Certificates that nobody should show any more are counted, and those without names are not taken.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { issueCertificate, type KeyPair } from './issue-certificate.js'
import { JsonEndpoint } from './json-endpoint.js'
import { CertificateTally } from './shown-certificate.js'
import { Upstream } from './upstream.js'

const pem = (what: string, text: string): string => `-----BEGIN ${what}-----\n${text}\n-----END ${what}-----\n`

/** Made by hand, and good for a hundred years: no program of today signs so. */
const oldAuthority = pem(
  'CERTIFICATE',
  'MIIBfzCCASWgAwIBAgIUJLcm9c9VCxiAu7D+xlVsjj9eHLkwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJYXV0aG9yaXR5MCAXDTI2MTExNjA3MTk0MloYDzIxMjYxMDIzMDcxOTQyWjAUMRIwEAYDVQQDDAlhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATP1movg6bkK217sleuqA5iN6SVuniwT+it0aMmmoSwxbY86mJxkER4tUWQH5ezH9i3/1HdhxE2l5Nk3YANsvbfo1MwUTAdBgNVHQ4EFgQUJucEtKQzTUmNvKz2vbQGxCNwz+UwHwYDVR0jBBgwFoAUJucEtKQzTUmNvKz2vbQGxCNwz+UwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAwU21Jk0dDLqGIunxdlMIeOLex3Nl6fyRXbPyIZ+j+ewCIF+H8vsucWP6VQGnOnnTixetdTPIwMPZ20LRht/fqVJq',
)
const old: KeyPair = {
  cert: pem(
    'CERTIFICATE',
    'MIIBjjCCATWgAwIBAgIUBFqDhpGmO8uKRmBPXQakA4pnFrkwCQYHKoZIzj0EATAUMRIwEAYDVQQDDAlhdXRob3JpdHkwIBcNMjYxMTE2MDcxOTQyWhgPMjEyNjEwMjMwNzE5NDJaMBoxGDAWBgNVBAMMD29sZC5leGFtcGxlLmNvbTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCEG9DXSipPxd4cPEFBQdkdU6Gvo3kxEUOrwkSil4j6puxX/pkQupqc3GV4AuZJBJxXxl8pycjTK+wKk+n4pafmjXjBcMBoGA1UdEQQTMBGHBH8AAAGCCWxvY2FsaG9zdDAdBgNVHQ4EFgQUPtkwf4n1fKnWKoLXEHBDLapFeu4wHwYDVR0jBBgwFoAUJucEtKQzTUmNvKz2vbQGxCNwz+UwCQYHKoZIzj0EAQNIADBFAiEAnVcMDzsZCRsyFBY2ZnaorW7Iv2gP/s0eFAXDJA978j0CIF8Y4quA9UNqFf2N82ssz/gCULOVQ5PG4YzUi3n9A7Jy',
  ),
  key: pem(
    'EC PRIVATE KEY',
    'MHcCAQEEIJxPGnmkdeStUVGNnP754Fhpo9fAWj/T9dizGRprpP8WoAoGCCqGSM49AwEHoUQDQgAEIQb0NdKKk/F3hw8QUFB2R1Toa+jeTERQ6vCRKKXiPqm7Ff+mRC6mpzcZXgC5kkEnFfGXynJyNMr7AqT6filp+Q==',
  ),
}

const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const authority = { ...issueCertificate({ commonName: 'authority', use: 'authority', ...times }), commonName: 'authority' }
const named = issueCertificate({ commonName: 'server', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)
const nameless = issueCertificate({ commonName: '127.0.0.1', use: 'server', ...times }, authority)
const namelessHost = issueCertificate({ commonName: 'old.example.com', use: 'server', ...times }, authority)

async function serve(t: TestContext, pair: KeyPair): Promise<string> {
  const server = createServer({ ...pair, ciphers: 'DEFAULT@SECLEVEL=0' }, (_request, response) => response.end('{}')).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

interface Asking {
  readonly ca: string
  readonly insecure?: boolean
  readonly serverName?: string
}

/** Asks three times, in both ways in which others are asked; what was counted, and what went wrong. */
async function asked(t: TestContext, url: string, tls: Asking): Promise<readonly [lackedNames: number, wereSha1: number, why: string]> {
  const [posts, gets] = [new CertificateTally(), new CertificateTally()]
  const endpoint = new JsonEndpoint({ url, ...tls, tally: posts }, { timeoutMs: 60_000 })
  const upstream = new Upstream({ ...tls, tally: gets })
  t.after(() => {
    endpoint.close()
    upstream.close()
  })
  let why = ''
  for (let i = 0; i < 3; i++) {
    await endpoint.post({}).catch((thrown: Error) => {
      why = thrown.message
    })
    await new Promise<void>((resolve) => {
      const sent = upstream.request({ url: new URL(url), method: 'GET', headers: ['Host', new URL(url).host] })
      sent.once('response', (answer) => answer.resume().once('end', resolve))
      sent.once('error', () => resolve())
      sent.end()
    })
  }
  assert.deepEqual([posts.lackedNames, posts.wereSha1], [gets.lackedNames, gets.wereSha1])
  return [posts.lackedNames, posts.wereSha1, why]
}

test('a good certificate counts for nothing', async (t) => {
  assert.deepEqual(await asked(t, await serve(t, named), { ca: authority.cert }), [0, 0, ''])
})

test('one without names is counted with each answer where it is taken, and with each failure where it is not', async (t) => {
  const url = await serve(t, nameless)
  assert.deepEqual(await asked(t, url, { ca: authority.cert, insecure: true }), [3, 0, ''])
  const host = await serve(t, namelessHost)
  const wanted = { ca: authority.cert, serverName: 'old.example.com' }
  assert.deepEqual(await asked(t, host, wanted), [3, 0, 'x509: certificate relies on legacy Common Name field, use SANs instead'])
})

test('so is one that was signed with SHA-1', async (t) => {
  const url = await serve(t, old)
  assert.deepEqual(await asked(t, url, { ca: oldAuthority, insecure: true }), [0, 3, ''])
  const [lackedNames, wereSha1, why] = await asked(t, url, { ca: oldAuthority })
  assert.deepEqual([lackedNames, wereSha1], [0, 3], why)
})
