// Certificates and tokens that the server itself gives out: requests that somebody approved, secrets of accounts, and the command for credentials.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { ApiClient } from '../kit/api-client.js'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { expectStatus, until } from '../kit/fixtures.js'
import { makeWithOpenssl } from '../kit/openssl-request.js'
import { runInside } from '../kit/run-inside.js'
import { newFolder, runCommand, ServerProcess } from '../kit/server-process.js'
import type { Wire } from '../kit/wire.js'
import { identify, openFlags } from './identify.js'
import { FlagFiles, newAuthority } from './make-pki.js'

const requests = '/apis/certificates.cluster.io/v1/certificatesigningrequests'
const core = '/api/v1/namespaces/default'

interface Wanted {
  readonly subject: string
  readonly signer?: string
  readonly usages?: readonly string[]
  readonly hosts?: string
  readonly seconds?: number
}

const statusOf = ({ status }: Wire) =>
  (status ?? {}) as { readonly certificate?: string; readonly conditions?: readonly { readonly type: string; readonly message?: string }[] }

describe('requests for certificates', () => {
  const folder = newFolder()
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory', openFlags)
  })
  after(async () => {
    await running.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Made by the tool that users make them with. */
  const make = (name: string, { subject, hosts }: Wanted): { readonly csr: string; readonly key: string } => {
    const [key, csr] = [`${folder}/${name}.key`, `${folder}/${name}.csr`]
    makeWithOpenssl({ keyFile: key, outFile: csr, subject, hosts })
    return { csr: readFileSync(csr, 'utf8'), key: readFileSync(key, 'utf8') }
  }
  const ask = async (name: string, wanted: Wanted, csr: string) => {
    const { signer = 'cluster-apiserver-client', usages = ['client auth', 'digital signature'], seconds } = wanted
    const spec = {
      request: Buffer.from(csr).toString('base64'),
      signerName: `cluster.io/${signer}`,
      usages,
      ...(seconds === undefined ? {} : { expirationSeconds: seconds }),
    }
    expectStatus(await running.client.post(requests, { metadata: { name }, spec }), 201)
  }
  const decide = async (name: string, type: 'Approved' | 'Denied') => {
    const patch = { status: { conditions: [{ type, status: 'True', reason: 'r', message: 'm' }] } }
    expectStatus(await running.client.patch(`${requests}/${name}/approval`, 'application/merge-patch+json', patch), 200)
  }
  const outcome = (name: string) =>
    until(
      async () => statusOf((await running.client.get(`${requests}/${name}`)).json),
      ({ certificate, conditions = [] }) => certificate !== undefined || conditions.some(({ type }) => type === 'Failed'),
    )

  test('what was approved is signed, and this server believes it', async () => {
    const wanted = { subject: '/O=devs/O=readers/CN=jane', seconds: 3600 }
    const { csr, key } = make('jane', wanted)
    await ask('jane', wanted, csr)
    assert.equal(statusOf((await running.client.get(`${requests}/jane`)).json).certificate, undefined)
    await decide('jane', 'Approved')
    const { certificate = '' } = await outcome('jane')
    const cert = Buffer.from(certificate, 'base64').toString()
    assert.deepEqual(await identify(running.server, { cert, key }), {
      status: 201,
      name: 'jane',
      groups: ['devs', 'readers', 'system:authenticated'],
    })
    const leftMs = Date.parse(new X509Certificate(cert).validTo) - Date.now()
    assert.ok(leftMs > 3_500_000 && leftMs <= 3_600_000)
  })

  test('what was denied, and what is for others, is not signed', async () => {
    const { csr } = make('denied', { subject: '/CN=mallory' })
    await ask('denied', { subject: '' }, csr)
    await decide('denied', 'Denied')
    await ask('others', { subject: '', signer: 'somebody-else' }, csr)
    await decide('others', 'Approved')
    const wanted = { subject: '/CN=later' }
    await ask('later', wanted, make('later', wanted).csr)
    await decide('later', 'Approved')
    await outcome('later')
    for (const name of ['denied', 'others']) {
      assert.equal(statusOf((await running.client.get(`${requests}/${name}`)).json).certificate, undefined, name)
    }
  })

  const refused: { readonly [name: string]: Wanted } = {
    usages: { subject: '/CN=a', usages: ['client auth', 'server auth'] },
    nousage: { subject: '/CN=a', usages: ['digital signature'] },
    noname: { subject: '/O=devs' },
    node: { subject: '/O=system:masters/CN=system:node:n', signer: 'cluster-apiserver-client-kubelet' },
    othernode: { subject: '/O=system:nodes/CN=admin', signer: 'cluster-apiserver-client-kubelet' },
    nodehost: { subject: '/O=system:nodes/CN=system:node:n', signer: 'cluster-apiserver-client-kubelet', hosts: 'DNS:x' },
    serving: { subject: '/O=system:nodes/CN=system:node:n', signer: 'kubelet-serving', usages: ['digital signature', 'server auth'] },
    mail: {
      subject: '/O=system:nodes/CN=system:node:n',
      signer: 'kubelet-serving',
      usages: ['digital signature', 'server auth'],
      hosts: 'DNS:n,email:a@b.c',
    },
  }
  for (const [name, wanted] of Object.entries(refused)) {
    test(`the signer says why it does not sign: ${name}`, async () => {
      await ask(name, wanted, make(name, wanted).csr)
      await decide(name, 'Approved')
      const { certificate, conditions = [] } = await outcome(name)
      assert.equal(certificate, undefined)
      assert.ok((conditions.find(({ type }) => type === 'Failed')?.message ?? '') !== '')
    })
  }

  test('a node gets its certificates, as client and as server', async () => {
    const wanted = { subject: '/O=system:nodes/CN=system:node:n', signer: 'cluster-apiserver-client-kubelet' }
    const { csr, key } = make('agent', wanted)
    await ask('agent', wanted, csr)
    await decide('agent', 'Approved')
    const cert = Buffer.from((await outcome('agent')).certificate ?? '', 'base64').toString()
    assert.equal((await identify(running.server, { cert, key })).name, 'system:node:n')
    const serving: Wanted = {
      ...wanted,
      signer: 'kubelet-serving',
      usages: ['server auth', 'digital signature'],
      hosts: 'DNS:n.test,IP:10.0.0.7,IP:fd00::7',
    }
    const made = make('serving-good', serving)
    await ask('serving-good', serving, made.csr)
    await decide('serving-good', 'Approved')
    const issued = Buffer.from((await outcome('serving-good')).certificate ?? '', 'base64').toString()
    assert.equal(new X509Certificate(issued).subjectAltName, 'DNS:n.test, IP Address:10.0.0.7, IP Address:FD00:0:0:0:0:0:0:7')
    assert.equal((await identify(running.server, { cert: issued, key: made.key })).status, 401, 'it is for servers')
  })
})

test('where the operator named an authority the own one signs nothing', async () => {
  const files = new FlagFiles()
  const running = await startEmbedded('memory', [...openFlags, `--client-ca-file=${files.write('ca.crt', newAuthority('a').cert)}`])
  try {
    const folder = newFolder()
    makeWithOpenssl({ keyFile: `${folder}/k`, outFile: `${folder}/c`, subject: '/CN=x' })
    const spec = {
      request: readFileSync(`${folder}/c`).toString('base64'),
      signerName: 'cluster.io/cluster-apiserver-client',
      usages: ['client auth'],
    }
    expectStatus(await running.client.post(requests, { metadata: { name: 'x' }, spec }), 201)
    const patch = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r' }] } }
    expectStatus(await running.client.patch(`${requests}/x/approval`, 'application/merge-patch+json', patch), 200)
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.equal(statusOf((await running.client.get(`${requests}/x`)).json).certificate, undefined)
  } finally {
    await running.close()
    files.remove()
  }
})

test('each signer may have an authority of its own; those without one do not sign', async () => {
  const folder = newFolder()
  const file = (name: string): string => `${folder}/${name}`
  for (const name of ['clients', 'nodes'])
    makeWithOpenssl({ keyFile: file(`${name}.key`), outFile: file(`${name}.crt`), subject: `/CN=${name}`, selfSignedDays: 2 })
  const flagsOf = (stem: string, name: string): readonly string[] => [
    `--cluster-signing-${stem}-cert-file=${file(`${name}.crt`)}`,
    `--cluster-signing-${stem}-key-file=${file(`${name}.key`)}`,
  ]
  const flags = [...openFlags, ...flagsOf('cluster-apiserver-client', 'clients'), ...flagsOf('kubelet-serving', 'nodes')]
  const running = await startEmbedded('memory', flags)
  try {
    const ask = async (name: string, spec: object, subject: string, hosts = 'DNS:n'): Promise<void> => {
      makeWithOpenssl({ keyFile: file('k'), outFile: file(name), subject, hosts })
      const request = readFileSync(file(name)).toString('base64')
      expectStatus(await running.client.post(requests, { metadata: { name }, spec: { request, ...spec } }), 201)
      const patch = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r' }] } }
      expectStatus(await running.client.patch(`${requests}/${name}/approval`, 'application/merge-patch+json', patch), 200)
    }
    const issued = async (name: string): Promise<X509Certificate> => {
      const { certificate = '' } = await until(
        async () => statusOf((await running.client.get(`${requests}/${name}`)).json),
        (status) => status.certificate !== undefined,
      )
      return new X509Certificate(Buffer.from(certificate, 'base64'))
    }
    const nodeUsages = ['digital signature', 'client auth']
    await ask(
      'unsigned',
      { signerName: 'cluster.io/cluster-apiserver-client-kubelet', usages: nodeUsages },
      '/O=system:nodes/CN=system:node:n',
    )
    await ask(
      'client',
      { signerName: 'cluster.io/cluster-apiserver-client', usages: ['client auth'] },
      '/CN=c',
      'DNS:n,email:a@b.c,URI:urn:x',
    )
    await ask(
      'serving',
      { signerName: 'cluster.io/kubelet-serving', usages: ['digital signature', 'server auth'] },
      '/O=system:nodes/CN=system:node:n',
    )
    const [client, serving] = [await issued('client'), await issued('serving')]
    assert.deepEqual([client.issuer, serving.issuer], ['CN=clients', 'CN=nodes'])
    assert.equal(client.subjectAltName, 'DNS:n, email:a@b.c, URI:urn:x')
    const authorityEnd = Date.parse(new X509Certificate(readFileSync(file('clients.crt'))).validTo)
    assert.equal(Date.parse(client.validTo), authorityEnd, 'not longer than its authority')
    // The one that was asked for first would have been signed before the others.
    assert.equal(statusOf((await running.client.get(`${requests}/unsigned`)).json).certificate, undefined)
  } finally {
    await running.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

for (const keyType of [['rsa:2048'], ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384'], ['ed25519']] as const) {
  test(`an authority that the operator names signs, with a key of type ${keyType[0]}`, async () => {
    const folder = newFolder()
    const file = (name: string): string => `${folder}/${name}`
    const subject = '/C=XX/O=Some authority/CN=ca'
    makeWithOpenssl({ keyFile: file('ca.key'), outFile: file('ca.crt'), subject, keyType, selfSignedDays: 30 })
    makeWithOpenssl({ keyFile: file('k'), outFile: file('c'), subject: '/O=devs/CN=dave', keyType: ['rsa:2048'] })
    const flags = ['cert', 'key'].map((word) => `--cluster-signing-${word}-file=${file(word === 'cert' ? 'ca.crt' : 'ca.key')}`)
    const running = await startEmbedded('memory', [
      ...openFlags,
      ...flags,
      '--cluster-signing-duration=1h',
      `--client-ca-file=${file('ca.crt')}`,
    ])
    try {
      const request = readFileSync(file('c')).toString('base64')
      const spec = { request, signerName: 'cluster.io/cluster-apiserver-client', usages: ['client auth'], expirationSeconds: 86_400 }
      expectStatus(await running.client.post(requests, { metadata: { name: 'x' }, spec }), 201)
      const patch = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r' }] } }
      expectStatus(await running.client.patch(`${requests}/x/approval`, 'application/merge-patch+json', patch), 200)
      const issued = await until(
        async () => statusOf((await running.client.get(`${requests}/x`)).json).certificate,
        (certificate) => certificate !== undefined,
      )
      const cert = Buffer.from(issued ?? '', 'base64').toString()
      writeFileSync(file('issued.crt'), cert)
      const verify = ['verify', '-CAfile', file('ca.crt'), '-purpose', 'sslclient', file('issued.crt')]
      assert.match(execFileSync('openssl', verify, { stdio: ['ignore', 'pipe', 'ignore'] }).toString(), /OK/)
      const { validFrom, validTo } = new X509Certificate(cert)
      assert.ok(Date.parse(validTo) - Date.parse(validFrom) <= 3_600_000 + 300_000, 'no longer than the operator wants')
      assert.equal((await identify(running.server, { cert, key: readFileSync(file('k'), 'utf8') })).name, 'dave')
    } finally {
      await running.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
}

describe('secrets with tokens of accounts', () => {
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory', [...openFlags, '--controllers=*,tokencleaner,bootstrapsigner', '--enable-bootstrap-token-auth'])
  })
  after(() => running.close())
  const secretOf = (name: string, account: string) => ({
    metadata: { name, annotations: { 'cluster.io/service-account.name': account } },
    type: 'cluster.io/service-account-token',
  })
  const dataOf = (json: Wire) => (json.data ?? {}) as { readonly [key: string]: string }

  test('are filled in, work, and end with the secret or the account', async () => {
    const { client, server } = running
    expectStatus(await client.post(`${core}/serviceaccounts`, { metadata: { name: 'old' } }), 201)
    for (const name of ['one', 'two']) expectStatus(await client.post(`${core}/secrets`, secretOf(name, 'old')), 201)
    const filled = async (name: string) => {
      const { json } = await until(
        () => client.get(`${core}/secrets/${name}`),
        (answer) => dataOf(answer.json)['token'] !== undefined,
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
    await until(
      () => client.get(`${core}/secrets/two`),
      ({ status }) => status === 404,
    )
  })

  test('a secret of an account that is not there goes', async () => {
    const { client } = running
    expectStatus(await client.post(`${core}/secrets`, secretOf('lost', 'nobody')), 201)
    await until(
      () => client.get(`${core}/secrets/lost`),
      ({ status }) => status === 404,
    )
  })

  test('bootstrap tokens go when their time is over, and sign the description of the cluster until then', async () => {
    const { client } = running
    const system = '/api/v1/namespaces/cluster-system/secrets'
    const info = '/api/v1/namespaces/cluster-public/configmaps'
    expectStatus(await client.post(info, { metadata: { name: 'cluster-info' }, data: { kubeconfig: 'content' } }), 201)
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
    await until(
      () => client.get(`${system}/bootstrap-token-abcdef`),
      ({ status }) => status === 404,
    )
    await until(
      () => client.get(`${info}/cluster-info`),
      ({ json }) => dataOf(json)['jws-kubeconfig-abcdef'] === undefined,
    )
  })
})

test('the command for credentials gives a configuration that works', async () => {
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
    const known = await identify({ url: server.url, caPem: part('certificate-authority-data') }, pair)
    assert.deepEqual([known.name, known.groups], ['alice', ['dev', 'ops', 'system:authenticated']])
    const anonymous = new ApiClient({ url: server.url, ca: part('certificate-authority-data') })
    assert.equal((await anonymous.get('/api')).status, 401)
    anonymous.close()
    const account = ['credentials', '--token', `--data-dir=${server.dataDir}`]
    const given = await runInside([...account, '--user=system:serviceaccount:default:default', '--expires=20m'])
    assert.equal(given.code, 0, given.stderr)
    const token = /token: "([^"]+)"/.exec(given.stdout)?.[1] ?? ''
    const member = await identify({ url: server.url, caPem: part('certificate-authority-data') }, { token })
    assert.equal(member.name, 'system:serviceaccount:default:default')
    const nobody = await runInside([...account, '--user=system:serviceaccount:default:nobody'])
    assert.deepEqual([nobody.code, /"nobody" not found/.test(nobody.stderr)], [1, true], nobody.stderr)
    assert.equal((await runInside([...account, '--user=alice'])).code, 2)
    assert.equal((await runInside([...account, '--user=system:serviceaccount:default:default', '--group=dev'])).code, 2)
  } finally {
    await server.stop()
  }
  assert.equal((await runInside(['credentials', '--user=alice', `--data-dir=${newFolder()}`])).code, 1)
  assert.equal((await runInside(['credentials'])).code, 2)
  assert.equal((await runInside(['credentials', '--user=a', '--expires=0s'])).code, 2)
})
