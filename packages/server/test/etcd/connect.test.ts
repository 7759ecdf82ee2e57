// Connecting to etcd: endpoint syntax, an unavailable etcd, a server that is not etcd, too large requests, TLS, authentication.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServer } from 'cluster-apiserver'
import {
  collectBytes,
  type ProtoWriter,
  writeInteger,
  writeText,
  writeUint,
  writtenBytes,
} from '../../../api/src/base/protobuf/protobuf-writer.js'
import { issueCertificate, type KeyPair } from '../../src/net/tls/issue-certificate.js'
import { connectSocket, parseEndpoint } from '../../src/storage/etcd/etcd-endpoint.js'
import { decodeAuthenticate, encodeAuthenticate, methods } from '../../src/storage/etcd/grpc/etcd-messages.js'
import { GrpcChannel } from '../../src/storage/etcd/grpc/grpc-channel.js'
import { StorageRefusedError } from '../../src/storage/storage.js'
import { EtcdCluster, freePorts, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix, openReplica, put, recordingLogger } from './open-replica.js'

const until = async (isDone: () => boolean, condition: string): Promise<void> => {
  for (let waited = 0; !isDone(); waited += 20) {
    assert.ok(waited < 30_000, condition)
    await sleep(20)
  }
}

describe('endpoints', () => {
  const rows = [
    { input: 'http://10.0.0.1:2379', url: 'http://10.0.0.1:2379' },
    { input: 'https://etcd.example:2379/', url: 'https://etcd.example:2379' },
    { input: 'http://etcd', url: 'http://etcd:2379' },
    { input: 'https://etcd:443', url: 'https://etcd:443' },
    { input: 'http://[::1]:1234', url: 'http://[::1]:1234' },
    { input: '10.0.0.1:2379', url: undefined },
    { input: 'etcd://10.0.0.1', url: undefined },
    { input: 'http://10.0.0.1/v3', url: undefined },
    { input: '', url: undefined },
  ]
  for (const { input, url } of rows) {
    test(`${input} is ${url ?? 'rejected'}`, () => {
      if (url === undefined) assert.throws(() => parseEndpoint(input), StorageRefusedError)
      else assert.equal(parseEndpoint(input).url, url)
    })
  }
})

describe('connecting', { skip: whyNoEtcd ?? false }, () => {
  test('the server waits for an unreachable etcd and logs why', async () => {
    const [port = 0] = await freePorts(1)
    const logger = recordingLogger()
    const abort = new AbortController()
    const endpoint = `http://127.0.0.1:${port}`
    const opening = openReplica({ endpoints: [endpoint], prefix: newPrefix(), retryTimeoutMs: 300, logger, signal: abort.signal })
    const refused = assert.rejects(opening, { name: 'AbortError' })
    await until(() => logger.lines.includes(`etcd is unavailable; retrying: ${endpoint}: connection refused`), 'the log says so')
    abort.abort()
    await refused
  })

  test('an endpoint that is not etcd is logged', async (context) => {
    const [port = 0] = await freePorts(1)
    const notEtcd = createServer((_, response) => response.end('hello'))
    context.after(() => notEtcd.close())
    await new Promise<void>((resolve) => notEtcd.listen(port, '127.0.0.1', resolve))
    await expectLogged(context, { endpoints: [`http://127.0.0.1:${port}`] }, /does not speak HTTP\/2/)
  })

  test('one working endpoint of several is enough; a too large request is no endpoint failure', async (context) => {
    const cluster = await EtcdCluster.start({ members: 1, flags: ['--max-request-bytes=1000000'] })
    context.after(() => cluster.stop())
    const [port = 0] = await freePorts(1)
    const replica = await openReplica({ endpoints: [`http://127.0.0.1:${port}`, ...cluster.endpoints], prefix: newPrefix() })
    assert.ok(await put(replica, 'k/1', '1'))
    // 1.2 MB exceeds --max-request-bytes; 3 MB also exceeds etcd's gRPC message limit, which is 512 KiB higher.
    for (const bytes of [1_200_000, 3_000_000]) {
      const large = { key: 'k/large', value: Buffer.alloc(bytes), expect: 0 }
      const outcomes = await Promise.allSettled([replica.commit([large]), put(replica, `k/other-${bytes}`, '1')])
      assert.deepEqual(
        outcomes.map(({ status, ...rest }) => ('reason' in rest ? rest.reason.name : status)),
        ['TooLargeError', 'fulfilled'],
      )
    }
    await replica.close()
  })
})

describe('TLS', { skip: whyNoEtcd ?? false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'etcd-tls-'))
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 }
  const authority = { ...issueCertificate({ commonName: 'test authority', use: 'authority', ...validity }), commonName: 'test authority' }
  const files = (name: string, { cert, key }: KeyPair) => ({ certFile: file(`${name}.crt`, cert), keyFile: file(`${name}.key`, key) })
  const server = files('server', issueCertificate({ commonName: 'etcd', hosts: ['127.0.0.1'], use: 'server', ...validity }, authority))
  const client = files('client', issueCertificate({ commonName: 'apiserver', use: 'client', ...validity }, authority))
  const caFile = file('ca.crt', authority.cert)
  let cluster: EtcdCluster
  before(async () => {
    const serverFlags = [
      `--cert-file=${server.certFile}`,
      `--key-file=${server.keyFile}`,
      `--trusted-ca-file=${caFile}`,
      '--client-cert-auth',
    ]
    cluster = await EtcdCluster.start({ members: 1, tls: { serverFlags, client: { caFile, ...client } } })
  })
  after(async () => {
    await cluster.stop()
    rmSync(folder, { recursive: true })
  })

  test('with a client certificate', async () => {
    const replica = await openReplica({ endpoints: cluster.endpoints, prefix: newPrefix(), tls: { caFile, ...client } })
    assert.ok(await put(replica, 'k/1', 'x'.repeat(200_000)))
    assert.equal(replica.read('k/1')?.value.length, 200_000)
    await replica.close()
  })

  test('a whole server with a client certificate', async () => {
    const server = await startServer({ etcd: { servers: cluster.endpoints, prefix: newPrefix(), caFile, ...client } })
    await server.close()
  })

  const failures = [
    { name: 'an untrusted CA', tls: client, message: /signed by an untrusted authority/ },
    { name: 'no client certificate', tls: { caFile }, message: /etcd is unavailable/ },
    { name: 'a missing file', tls: { caFile: '/nowhere/ca.crt' }, message: /no such file or directory, open '\/nowhere\/ca.crt'/ },
  ]
  for (const { name, tls, message } of failures) {
    test(`${name} is logged`, (context) => expectLogged(context, { endpoints: cluster.endpoints, tls }, message))
  }

  test('plain text to a TLS port is logged', async (context) => {
    const endpoints = cluster.endpoints.map((url) => url.replace('https:', 'http:'))
    await expectLogged(context, { endpoints }, /etcd is unavailable/)
  })
})

async function expectLogged(
  context: TestContext,
  options: Omit<Parameters<typeof openReplica>[0], 'prefix'>,
  message: RegExp,
): Promise<void> {
  const logger = recordingLogger()
  const abort = new AbortController()
  const opening = openReplica({ ...options, prefix: newPrefix(), retryTimeoutMs: 2000, logger, signal: abort.signal })
  context.after(() => abort.abort())
  const refused = assert.rejects(opening)
  await until(() => logger.lines.some((line) => message.test(line)), `the log says so: ${logger.lines.join('\n')}`)
  abort.abort()
  await refused
}

describe('authentication', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  const prefix = newPrefix()
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
    await setUpUsers(cluster.endpoints[0] ?? '', prefix)
  })
  after(() => cluster.stop())

  test('with a user who has access to the prefix', async () => {
    const credentials = { username: 'server', password: 'secret' }
    const replica = await openReplica({ endpoints: cluster.endpoints, prefix, credentials })
    const other = await openReplica({ endpoints: cluster.endpoints, prefix, credentials })
    await put(replica, 'k/1', '1')
    await replica.compact(replica.revision)
    await other.readIndex()
    assert.equal(other.read('k/1')?.value.toString(), '1')
    await Promise.all([replica.close(), other.close()])
  })

  test('a wrong password is logged', (context) =>
    expectLogged(
      context,
      { endpoints: cluster.endpoints, credentials: { username: 'server', password: 'wrong' } },
      /authentication failed/,
    ))

  test('missing permission for the prefix is logged', (context) =>
    expectLogged(context, { endpoints: cluster.endpoints, credentials: { username: 'server', password: 'secret' } }, /permission denied/))
})

/** Creates a user `server` with access to the prefix, and `root`, which etcd needs to enable authentication. */
async function setUpUsers(endpoint: string, prefix: string): Promise<void> {
  const socket = await connectSocket(parseEndpoint(endpoint), { tls: {}, timeoutMs: 20_000 })
  const channel = new GrpcChannel({ socket, url: endpoint })
  const call = (method: string, write: (writer: ProtoWriter) => void): Promise<Buffer> =>
    channel.call(`/etcdserverpb.Auth/${method}`, Buffer.from(collectBytes(write)), 20_000)
  const field = (writer: ProtoWriter, number: number, write: () => void): void => {
    const before = writtenBytes(writer)
    write()
    writeUint(writer, writtenBytes(writer) - before)
    writeUint(writer, number * 8 + 2)
  }
  const text = (writer: ProtoWriter, number: number, value: string): void => field(writer, number, () => writeText(writer, value))
  const texts = (first: string, second?: string) => (writer: ProtoWriter) => {
    if (second !== undefined) text(writer, 2, second)
    text(writer, 1, first)
  }
  await call('RoleAdd', texts('root'))
  await call('RoleAdd', texts('server'))
  await call('RoleGrantPermission', (writer) => {
    field(writer, 2, () => {
      text(writer, 3, `${prefix}0`)
      text(writer, 2, prefix)
      writeInteger(writer, 2)
      writeUint(writer, 8)
    })
    text(writer, 1, 'server')
  })
  await call('UserAdd', texts('root', 'secret'))
  await call('UserAdd', texts('server', 'secret'))
  await call('UserGrantRole', texts('root', 'root'))
  await call('UserGrantRole', texts('server', 'server'))
  await call('AuthEnable', () => undefined)
  assert.ok(decodeAuthenticate(await channel.call(methods.authenticate, encodeAuthenticate('server', 'secret'), 2000)))
  channel.close('done')
}
