// Issued credentials: CertificateSigningRequests, ServiceAccount token Secrets, bootstrap tokens, and the `credentials` command.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'
import { makeWithOpenssl } from '../../../../test/kit/openssl-request.js'
import { runInProcess } from '../../../../test/kit/run-command.js'
import { newFolder, runCommand, ServerProcess } from '../../../../test/kit/server-process.js'
import { FlagFiles, newAuthority } from './make-pki.js'
import { identify, openFlags } from './self-subject-review.js'

const requests = '/apis/certificates.cluster.io/v1/certificatesigningrequests'
const core = '/api/v1/namespaces/default'

interface RequestedCertificate {
  readonly subject: string
  readonly signer?: string
  readonly usages?: readonly string[]
  readonly hosts?: string
  readonly seconds?: number
  readonly keyType?: readonly string[]
}

const statusOf = ({ status }: JsonObject) =>
  (status ?? {}) as { readonly certificate?: string; readonly conditions?: readonly { readonly type: string; readonly message?: string }[] }

const client = { signer: 'cluster-apiserver-client', usages: ['client auth', 'digital signature'] }
const nodeClient = { subject: '/O=system:nodes/CN=system:node:n', signer: 'cluster-apiserver-client-kubelet' }
const nodeServing = { ...nodeClient, signer: 'kubelet-serving', usages: ['digital signature', 'server auth'] }

/** Server and CertificateSigningRequests that openssl creates in a temporary folder. */
class Signing {
  readonly running: Embedded
  readonly #folder: string

  constructor(running: Embedded, folder: string) {
    this.running = running
    this.#folder = folder
  }

  static async start(flags: readonly string[] = [], folder = newFolder()): Promise<Signing> {
    return new Signing(await startEmbedded('memory', [...openFlags, ...flags]), folder)
  }

  async close(): Promise<void> {
    await this.running.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Creates and approves or denies a request; returns the private key. */
  async request(name: string, { subject, hosts, seconds, keyType, ...rest }: RequestedCertificate, decision = 'Approved'): Promise<string> {
    const [keyFile, outFile] = [`${this.#folder}/${name}.key`, `${this.#folder}/${name}.csr`]
    makeWithOpenssl({ keyFile, outFile, subject, hosts, ...(keyType === undefined ? {} : { keyType }) })
    const { signer, usages } = { ...client, ...rest }
    const request = readFileSync(outFile).toString('base64')
    const spec = { request, signerName: `cluster.io/${signer}`, usages, ...(seconds === undefined ? {} : { expirationSeconds: seconds }) }
    expectStatus(await this.running.client.post(requests, { metadata: { name }, spec }), 201)
    const patch = { status: { conditions: [{ type: decision, status: 'True', reason: 'r', message: 'm' }] } }
    if (decision !== 'none')
      expectStatus(await this.running.client.patch(`${requests}/${name}/approval`, 'application/merge-patch+json', patch), 200)
    return readFileSync(keyFile, 'utf8')
  }

  async status(name: string) {
    return statusOf((await this.running.client.get(`${requests}/${name}`)).json)
  }

  outcome(name: string) {
    return until(
      () => this.status(name),
      ({ certificate, conditions = [] }) => certificate !== undefined || conditions.some(({ type }) => type === 'Failed'),
    )
  }

  /** Certificate as PEM. */
  async issued(name: string): Promise<string> {
    return Buffer.from((await this.outcome(name)).certificate ?? '', 'base64').toString()
  }
}

describe('CertificateSigningRequests', () => {
  let signing: Signing
  before(async () => {
    signing = await Signing.start()
  })
  after(() => signing.close())

  test('an approved request is signed, and the certificate authenticates', async () => {
    const key = await signing.request('jane', { subject: '/O=devs/O=readers/CN=jane', seconds: 3600 })
    const cert = await signing.issued('jane')
    assert.deepEqual(await identify(signing.running.server, { cert, key }), {
      status: 201,
      name: 'jane',
      groups: ['devs', 'readers', 'system:authenticated'],
    })
    const remainingMs = Date.parse(new X509Certificate(cert).validTo) - Date.now()
    assert.ok(remainingMs > 3_500_000 && remainingMs <= 3_600_000)
  })

  test('unapproved requests and other signers are not signed', async () => {
    await signing.request('pending', { subject: '/CN=mallory' }, 'none')
    await signing.request('denied', { subject: '/CN=mallory' }, 'Denied')
    await signing.request('others', { subject: '/CN=mallory', signer: 'somebody-else' })
    await signing.request('later', { subject: '/CN=later' })
    await signing.outcome('later')
    for (const name of ['pending', 'denied', 'others']) assert.equal((await signing.status(name)).certificate, undefined, name)
  })

  const refused: { readonly [name: string]: RequestedCertificate } = {
    usages: { subject: '/CN=a', usages: ['client auth', 'server auth'] },
    noname: { subject: '/O=devs' },
    node: { ...nodeClient, subject: '/O=system:masters/CN=system:node:n' },
    serving: nodeServing,
  }
  for (const [name, input] of Object.entries(refused)) {
    test(`the Failed condition has the reason: ${name}`, async () => {
      await signing.request(name, input)
      const { certificate, conditions = [] } = await signing.outcome(name)
      assert.equal(certificate, undefined)
      assert.ok((conditions.find(({ type }) => type === 'Failed')?.message ?? '') !== '')
    })
  }

  test('a kubelet gets client and serving certificates', async () => {
    const { server } = signing.running
    const key = await signing.request('agent', nodeClient)
    assert.equal((await identify(server, { cert: await signing.issued('agent'), key })).name, 'system:node:n')
    const servingKey = await signing.request('serving-good', { ...nodeServing, hosts: 'DNS:n.test,IP:10.0.0.7,IP:fd00::7' })
    const issued = await signing.issued('serving-good')
    assert.equal(new X509Certificate(issued).subjectAltName, 'DNS:n.test, IP Address:10.0.0.7, IP Address:FD00:0:0:0:0:0:0:7')
    assert.equal(
      (await identify(server, { cert: issued, key: servingKey })).status,
      401,
      'a serving certificate does not authenticate a client',
    )
  })
})

test("with --client-ca-file the server's own CA signs nothing", async () => {
  const files = new FlagFiles()
  const signing = await Signing.start([`--client-ca-file=${files.write('ca.crt', newAuthority('a').cert)}`])
  try {
    await signing.request('x', { subject: '/CN=x' })
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.equal((await signing.status('x')).certificate, undefined)
  } finally {
    await signing.close()
    files.remove()
  }
})

test('each signer has its own CA; signers without one do not sign', async () => {
  const folder = newFolder()
  const file = (name: string): string => `${folder}/${name}`
  for (const name of ['clients', 'nodes'])
    makeWithOpenssl({ keyFile: file(`${name}.key`), outFile: file(`${name}.crt`), subject: `/CN=${name}`, selfSignedDays: 2 })
  const flagsOf = (stem: string, name: string): readonly string[] => [
    `--cluster-signing-${stem}-cert-file=${file(`${name}.crt`)}`,
    `--cluster-signing-${stem}-key-file=${file(`${name}.key`)}`,
  ]
  const signing = await Signing.start([...flagsOf('cluster-apiserver-client', 'clients'), ...flagsOf('kubelet-serving', 'nodes')], folder)
  try {
    await signing.request('unsigned', nodeClient)
    await signing.request('client', { subject: '/CN=c', hosts: 'DNS:n,email:a@b.c,URI:urn:x' })
    await signing.request('serving', { ...nodeServing, hosts: 'DNS:n' })
    const [issued, serving] = [new X509Certificate(await signing.issued('client')), new X509Certificate(await signing.issued('serving'))]
    assert.deepEqual([issued.issuer, serving.issuer], ['CN=clients', 'CN=nodes'])
    assert.equal(issued.subjectAltName, 'DNS:n, email:a@b.c, URI:urn:x')
    const authorityEnd = Date.parse(new X509Certificate(readFileSync(file('clients.crt'))).validTo)
    assert.equal(Date.parse(issued.validTo), authorityEnd, 'not longer than its authority')
    // Requests are signed in order: `unsigned` was created first and would have been signed by now.
    assert.equal((await signing.status('unsigned')).certificate, undefined)
  } finally {
    await signing.close()
  }
})

for (const keyType of [['rsa:2048'], ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384'], ['ed25519']] as const) {
  test(`--cluster-signing-cert-file signs, with a key of type ${keyType[0]}`, async () => {
    const folder = newFolder()
    const file = (name: string): string => `${folder}/${name}`
    const subject = '/C=XX/O=Some authority/CN=ca'
    makeWithOpenssl({ keyFile: file('ca.key'), outFile: file('ca.crt'), subject, keyType, selfSignedDays: 30 })
    const pair = [`--cluster-signing-cert-file=${file('ca.crt')}`, `--cluster-signing-key-file=${file('ca.key')}`]
    const signing = await Signing.start([...pair, '--cluster-signing-duration=1h', `--client-ca-file=${file('ca.crt')}`], folder)
    try {
      const key = await signing.request('x', { subject: '/O=devs/CN=dave', seconds: 86_400, keyType: ['rsa:2048'] })
      const cert = await signing.issued('x')
      writeFileSync(file('issued.crt'), cert)
      const verify = ['verify', '-CAfile', file('ca.crt'), '-purpose', 'sslclient', file('issued.crt')]
      assert.match(execFileSync('openssl', verify, { stdio: ['ignore', 'pipe', 'ignore'] }).toString(), /OK/)
      const { validFrom, validTo } = new X509Certificate(cert)
      assert.ok(Date.parse(validTo) - Date.parse(validFrom) <= 3_600_000 + 300_000, 'at most --cluster-signing-duration')
      assert.equal((await identify(signing.running.server, { cert, key })).name, 'dave')
    } finally {
      await signing.close()
    }
  })
}

describe('ServiceAccount token Secrets', () => {
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory', [...openFlags, '--controllers=*,tokencleaner,bootstrapsigner', '--enable-bootstrap-token-auth'])
  })
  after(() => running.close())
  const secretOf = (name: string, account: string) => ({
    metadata: { name, annotations: { 'cluster.io/service-account.name': account } },
    type: 'cluster.io/service-account-token',
  })
  const dataOf = (json: JsonObject) => (json.data ?? {}) as { readonly [key: string]: string }

  test('get a token that works until Secret or account is deleted', async () => {
    const { client, server } = running
    expectStatus(await client.post(`${core}/serviceaccounts`, { metadata: { name: 'old' } }), 201)
    for (const name of ['one', 'two']) expectStatus(await client.post(`${core}/secrets`, secretOf(name, 'old')), 201)
    const filled = async (name: string) => {
      const { json } = await until(
        () => client.get(`${core}/secrets/${name}`),
        (response) => dataOf(response.json)['token'] !== undefined,
      )
      assert.equal(Buffer.from(dataOf(json)['namespace'] ?? '', 'base64').toString(), 'default')
      assert.match(Buffer.from(dataOf(json)['ca.crt'] ?? '', 'base64').toString(), /BEGIN CERTIFICATE/)
      return Buffer.from(dataOf(json)['token'] ?? '', 'base64').toString()
    }
    const [one, two] = [await filled('one'), await filled('two')]
    assert.equal((await identify(server, { token: one })).name, 'system:serviceaccount:default:old')
    assert.equal((await identify(server, { token: two })).name, 'system:serviceaccount:default:old')
    expectStatus(await client.delete(`${core}/secrets/one`), 200)
    assert.equal((await identify(server, { token: one })).status, 401)
    expectStatus(await client.delete(`${core}/serviceaccounts/old`), 200)
    assert.equal((await identify(server, { token: two })).status, 401)
    await untilStatus(() => client.get(`${core}/secrets/two`), 404)
  })

  test('a Secret of a missing account is deleted', async () => {
    const { client } = running
    expectStatus(await client.post(`${core}/secrets`, secretOf('lost', 'nobody')), 201)
    await untilStatus(() => client.get(`${core}/secrets/lost`), 404)
  })

  test('expired bootstrap tokens are deleted; valid ones sign the cluster-info ConfigMap', async () => {
    const { client } = running
    const system = '/api/v1/namespaces/cluster-system/secrets'
    const info = '/api/v1/namespaces/cluster-public/configmaps'
    expectStatus(await client.patch(`${info}/cluster-info`, 'application/merge-patch+json', { data: { kubeconfig: 'content' } }), 200)
    const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()
    const token = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true' }
    const stringData = { ...token, expiration: inMs(3_600_000) }
    expectStatus(
      await client.post(system, { metadata: { name: 'bootstrap-token-abcdef' }, type: 'bootstrap.cluster.io/token', stringData }),
      201,
    )
    const signed = await until(
      () => client.get(`${info}/cluster-info`),
      ({ json }) => dataOf(json)['jws-kubeconfig-abcdef'] !== undefined,
    )
    const [head = '', middle, signature = ''] = (dataOf(signed.json)['jws-kubeconfig-abcdef'] ?? '').split('.')
    assert.equal(middle, '')
    const { compactVerify } = await import('jose')
    const whole = `${head}.${Buffer.from('content').toString('base64url')}.${signature}`
    const { protectedHeader } = await compactVerify(whole, Buffer.from('0123456789abcdef'))
    assert.deepEqual(protectedHeader, { alg: 'HS256', kid: 'abcdef' })
    const soon = { stringData: { expiration: inMs(1500) } }
    expectStatus(await client.patch(`${system}/bootstrap-token-abcdef`, 'application/merge-patch+json', soon), 200)
    await untilStatus(() => client.get(`${system}/bootstrap-token-abcdef`), 404)
    await until(
      () => client.get(`${info}/cluster-info`),
      ({ json }) => dataOf(json)['jws-kubeconfig-abcdef'] === undefined,
    )
  })
})

test('the credentials command writes a working configuration', async () => {
  const server = await ServerProcess.start({ flags: openFlags })
  try {
    const { stdout, code } = await runCommand([
      'credentials',
      '--user=alice',
      '--group',
      'dev',
      '--group=ops',
      '--expires=1h',
      `--data-dir=${server.dataDir}`,
    ])
    assert.equal(code, 0)
    const part = (name: string): string => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(stdout)?.[1] ?? '', 'base64').toString()
    assert.ok(stdout.includes(JSON.stringify(server.url)))
    const pair = { cert: part('client-certificate-data'), key: part('client-key-data') }
    const user = await identify({ url: server.url, caPem: part('certificate-authority-data') }, pair)
    assert.deepEqual([user.name, user.groups], ['alice', ['dev', 'ops', 'system:authenticated']])
    const anonymous = new ApiClient({ url: server.url, ca: part('certificate-authority-data') })
    assert.equal((await anonymous.get('/api')).status, 401)
    anonymous.close()
    const account = ['credentials', '--token', `--data-dir=${server.dataDir}`]
    const output = await runInProcess([...account, '--user=system:serviceaccount:default:default', '--expires=20m'])
    assert.equal(output.code, 0, output.stderr)
    const token = /token: "([^"]+)"/.exec(output.stdout)?.[1] ?? ''
    const member = await identify({ url: server.url, caPem: part('certificate-authority-data') }, { token })
    assert.equal(member.name, 'system:serviceaccount:default:default')
    const missing = await runInProcess([...account, '--user=system:serviceaccount:default:missing'])
    assert.deepEqual([missing.code, /"missing" not found/.test(missing.stderr)], [1, true], missing.stderr)
    assert.equal((await runInProcess([...account, '--user=alice'])).code, 2)
    assert.equal((await runInProcess([...account, '--user=system:serviceaccount:default:default', '--group=dev'])).code, 2)
  } finally {
    await server.stop()
  }
  assert.equal((await runInProcess(['credentials', '--user=alice', `--data-dir=${newFolder()}`])).code, 1)
  assert.equal((await runInProcess(['credentials'])).code, 2)
  assert.equal((await runInProcess(['credentials', '--user=a', '--expires=0s'])).code, 2)
})
