// What each signer refuses, in the words of the reference, and for how long it signs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../api/identity.js'
import type { CertificateRequest } from '../resources/certificates/signed-data.js'
import { validity } from './certificate-signing.js'
import { signerNames, signerRules } from './signer-rules.js'

const identity = identityOf('cluster')
const names = signerNames(identity)
const node = { commonName: 'system:node:n', organizations: ['system:nodes'] }
const hosts = ['n.test', '10.0.0.7']

for (const { signer, wanted = {}, usages, problem } of [
  { signer: 'client', usages: ['client auth'] },
  { signer: 'client', usages: ['client auth', 'digital signature', 'key encipherment'] },
  { signer: 'client', usages: ['client auth', 'server auth'], problem: 'invalid usage for client certificate: server auth' },
  { signer: 'client', usages: ['digital signature'], problem: 'missing required usage for client certificate: client auth' },
  { signer: 'client', usages: ['client auth'], wanted: { hosts, emails: ['a@b.c'], uris: ['urn:x'] } },
  {
    signer: 'client',
    usages: ['client auth'],
    wanted: { commonName: 'a\nb' },
    problem: 'the subject needs a common name, of characters that can be printed',
  },
  { signer: 'nodeClient', usages: ['client auth', 'digital signature', 'key encipherment'], wanted: node },
  { signer: 'nodeClient', usages: ['client auth', 'digital signature'], wanted: node },
  {
    signer: 'nodeClient',
    usages: ['client auth'],
    wanted: node,
    problem: 'usages did not match [client auth digital signature key encipherment]',
  },
  { signer: 'nodeClient', usages: [], wanted: { ...node, organizations: ['a'] }, problem: 'subject organization is not system:nodes' },
  {
    signer: 'nodeClient',
    usages: [],
    wanted: { ...node, organizations: ['system:nodes', 'system:masters'] },
    problem: 'subject organization is not system:nodes',
  },
  {
    signer: 'nodeClient',
    usages: [],
    wanted: { ...node, commonName: 'n' },
    problem: 'subject common name does not begin with system:node:',
  },
  { signer: 'nodeClient', usages: [], wanted: { ...node, hosts: ['10.0.0.7'] }, problem: 'IP subjectAltNames are not allowed' },
  { signer: 'nodeClient', usages: [], wanted: { ...node, hosts }, problem: 'DNS subjectAltNames are not allowed' },
  { signer: 'nodeClient', usages: [], wanted: { ...node, uris: ['urn:x'] }, problem: 'URI subjectAltNames are not allowed' },
  { signer: 'nodeServing', usages: ['server auth', 'digital signature', 'key encipherment'], wanted: { ...node, hosts } },
  { signer: 'nodeServing', usages: [], wanted: node, problem: 'DNS or IP subjectAltName is required' },
  { signer: 'nodeServing', usages: [], wanted: { ...node, hosts, emails: ['a@b.c'] }, problem: 'email subjectAltNames are not allowed' },
  {
    signer: 'nodeServing',
    usages: ['client auth', 'digital signature'],
    wanted: { ...node, hosts },
    problem: 'usages did not match [digital signature key encipherment server auth]',
  },
] as readonly {
  readonly signer: keyof typeof names
  readonly wanted?: Partial<CertificateRequest>
  readonly usages: readonly string[]
  readonly problem?: string
}[]) {
  test(`${signer}, ${JSON.stringify(wanted)} for ${usages.join(', ')}: ${problem ?? 'signed'}`, () => {
    const request = { commonName: 'jane', organizations: [], hosts: [], emails: [], uris: [], ...wanted } as unknown as CertificateRequest
    assert.equal(signerRules(identity).get(names[signer])?.problemOf(request, usages), problem)
  })
}

test('short certificates end when they shall, long ones a little earlier, and none after that of the signer', () => {
  const hourMs = 3_600_000
  const now = 1_000_000_000_000
  const end = (seconds: number, endMs: number): number => validity({ seconds, now, endMs }).notAfter - now
  assert.equal(validity({ seconds: 600, now, endMs: now + 1e12 }).notBefore, now - 300_000)
  assert.equal(end(3600, now + 1e12), hourMs)
  assert.equal(end(8 * 3600, now + 1e12), 8 * hourMs - 300_000)
  assert.equal(end(3600, now + 1000), 1000)
  assert.throws(() => end(3600, now), /certificate of the signer has ended at 2001-/)
})
