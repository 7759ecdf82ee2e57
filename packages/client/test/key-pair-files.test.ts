// A certificate and key that are renewed one after the other.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueCertificate } from '../../net/issue-certificate.js'
import { ConnectionError, CredentialError } from '../errors.js'
import { FollowedPair } from './followed-pair.js'
import { HttpTransport } from './http-transport.js'

const times = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 }
const issue = () => issueCertificate({ commonName: 'alice', use: 'client', ...times })

test('a pair is renewed as one, however its files are replaced', () => {
  const [first, second] = [issue(), issue()]
  const files: { cert: string | undefined; key: string } = { ...first }
  let nowMs = 0
  let reads = 0
  const pair = new FollowedPair({
    cert: () => {
      reads++
      if (files.cert === undefined) throw new CredentialError('it is not there')
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
  assert.equal(pair.current(), before, 'it is not read for each request')
  nowMs += 61_000
  assert.equal(pair.current(), before, 'the key is still the old one')
  files.cert = undefined
  nowMs += 2000
  assert.equal(pair.current(), before, 'one of them is not there for a moment')
  files.cert = second.cert
  files.key = second.key
  nowMs += 2000
  assert.deepEqual(pair.current(), { cert: second.cert, key: second.key }, 'it is looked at again soon')
})

test('a pair that never belonged together is told as such', () => {
  const where = 'user "u"'
  const [{ cert }, { key }] = [issue(), issue()]
  for (const [sources, complaint] of [
    [{ cert: () => cert, key: () => key }, /^CredentialError: user "u": .* cannot be used: the key belongs to another certificate$/],
    [{ cert: () => 'x', key: () => key }, /^CredentialError: user "u": .* cannot be used: /],
  ] as const)
    assert.throws(() => new FollowedPair({ ...sources, where }).current(), complaint)
})

test('what TLS finds wrong with a certificate before anything is sent is an error of the connection', async () => {
  const transport = new HttpTransport({ server: 'https://127.0.0.1:1' })
  const credential = { certificate: { cert: issue().cert, key: issue().key } }
  const isMismatch = (thrown: unknown): boolean => thrown instanceof ConnectionError && thrown.code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH'
  await assert.rejects(transport.send({ method: 'GET', path: '/', headers: {}, credential, signal: undefined }), isMismatch)
  await assert.rejects(transport.openSocket({ path: '/', headers: {}, protocols: [], credential, signal: undefined }), isMismatch)
})
