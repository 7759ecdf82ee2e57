// Rotation of client certificate and key files.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueCertificate } from '../../server/src/net/tls/issue-certificate.js'
import { ConnectionError, CredentialError } from '../src/errors.js'
import { HttpTransport } from '../src/node/http-transport.js'
import { KeyPairFiles } from '../src/node/key-pair-files.js'

const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 }
const issue = () => issueCertificate({ commonName: 'alice', use: 'client', ...validity })

test('the old pair is used until both files match', () => {
  const [first, second] = [issue(), issue()]
  const files: { cert: string | undefined; key: string } = { ...first }
  let nowMs = 0
  let reads = 0
  const pair = new KeyPairFiles({
    cert: () => {
      reads++
      if (files.cert === undefined) throw new CredentialError('missing')
      return files.cert
    },
    key: () => files.key,
    where: 'user "u"',
    now: () => nowMs,
  })
  const before = pair.current()
  assert.deepEqual(before, { cert: first.cert, key: first.key })
  assert.equal(pair.current(), before)
  assert.equal(reads, 1)
  files.cert = second.cert
  assert.equal(pair.current(), before, 'the files are not read for each request')
  nowMs += 61_000
  assert.equal(pair.current(), before, 'the key is still the old one')
  files.cert = undefined
  nowMs += 2000
  assert.equal(pair.current(), before, 'one file is missing for a moment')
  files.cert = second.cert
  files.key = second.key
  nowMs += 2000
  assert.deepEqual(pair.current(), { cert: second.cert, key: second.key }, 'a mismatch is read again after a second')
})

test('a pair that never matched is a CredentialError', () => {
  const where = 'user "u"'
  const [{ cert }, { key }] = [issue(), issue()]
  for (const [sources, errorPattern] of [
    [{ cert: () => cert, key: () => key }, /^CredentialError: user "u": .* cannot be used: the key belongs to another certificate$/],
    [{ cert: () => 'x', key: () => key }, /^CredentialError: user "u": .* cannot be used: /],
  ] as const)
    assert.throws(() => new KeyPairFiles({ ...sources, where }).current(), errorPattern)
})

test('a key of another certificate is a ConnectionError of requests', async () => {
  const transport = new HttpTransport({ server: 'https://127.0.0.1:1' })
  const credential = { certificate: { cert: issue().cert, key: issue().key } }
  const isMismatch = (thrown: unknown): boolean => thrown instanceof ConnectionError && thrown.code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH'
  await assert.rejects(transport.send({ method: 'GET', path: '/', headers: {}, credential, signal: undefined }), isMismatch)
  await assert.rejects(transport.openSocket({ path: '/', headers: {}, protocols: [], credential, signal: undefined }), isMismatch)
})
