// Embedding API: several servers in one process share no state, close completely, and let the process end.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { clientOf } from '../kit/embedded.js'
import { configMapOf, configMaps, expectStatus, makeConfigMap, namesOf, until } from '../kit/fixtures.js'
import { readMetrics } from '../kit/metrics-text.js'
import { RawSocket } from '../kit/network/raw-socket.js'
import { repoRoot } from '../kit/paths.js'
import { newFolder } from '../kit/server-process.js'

const run = promisify(execFile)

test('several servers at once share no state', async () => {
  const folders = [newFolder(), newFolder()]
  const servers = await Promise.all([startServer(), startServer(), ...folders.map((dataDir) => startServer({ dataDir }))])
  const clients = servers.map(clientOf)
  try {
    assert.equal(new Set(servers.map(({ port }) => port)).size, servers.length)
    assert.equal(new Set(servers.map(({ clientConfiguration }) => clientConfiguration)).size, servers.length)
    for (const [i, client] of clients.entries()) await makeConfigMap(client, 'default', configMapOf(`of-${i}`))
    for (const [i, client] of clients.entries()) {
      const names = namesOf((await client.get(configMaps('default'))).json)
      assert.deepEqual(
        names.filter((name) => name.startsWith('of-')),
        [`of-${i}`],
      )
    }
    // A token that the server did not create is rejected.
    const unauthenticated = await clients[0]?.get('/api/v1/namespaces', { authorization: 'Bearer wrong' })
    assert.equal(unauthenticated?.status, 401)
  } finally {
    for (const client of clients) client.close()
    await Promise.all(servers.map((server) => server.close()))
    for (const folder of folders) rmSync(folder, { recursive: true })
  }
})

test('objects are there after a restart in the same folder', async () => {
  const dataDir = newFolder()
  const first = await startServer({ dataDir })
  const firstClient = clientOf(first)
  const created = await makeConfigMap(firstClient, 'default', configMapOf('kept', { data: { a: 'ü' } }))
  firstClient.close()
  await first.close()
  const second = await startServer({ dataDir })
  const client = clientOf(second)
  try {
    assert.equal(second.clientConfigurationPath, join(dataDir, 'admin.conf'))
    assert.equal(second.caPem, first.caPem, 'clients that trusted the first trust the second')
    assert.deepEqual(expectStatus(await client.get(configMaps('default', 'kept')), 200).json, created)
    const next = await makeConfigMap(client, 'default', configMapOf('next'))
    assert.ok(Number(next.metadata.resourceVersion) > Number(created.metadata.resourceVersion))
  } finally {
    client.close()
    await second.close()
    rmSync(dataDir, { recursive: true })
  }
})

test('a data folder cannot be used twice, also within one process', async () => {
  const dataDir = newFolder()
  const server = await startServer({ dataDir })
  await assert.rejects(startServer({ dataDir }), (error: Error) => error.message.includes(dataDir) && /in use/.test(error.message))
  const client = clientOf(server)
  expectStatus(await client.get('/readyz'), 200)
  client.close()
  await server.close()
  const again = await startServer({ dataDir })
  await again.close()
  rmSync(dataDir, { recursive: true })
})

test('an invalid flag rejects with a sentence that names it, and leaves nothing open', async () => {
  await assert.rejects(startServer({ flags: ['--event-ttl=never'] }), /--event-ttl/)
  await assert.rejects(startServer({ flags: ['--no-such-flag'] }), /--no-such-flag/)
})

test('the identity belongs to the server, not to the process', async () => {
  const servers = await Promise.all([startServer({ identity: 'cluster' }), startServer({ identity: 'kubernetes' })])
  const clients = servers.map(clientOf)
  const [cluster, kubernetes] = await Promise.all(clients.map(async (client) => (await client.get('/apis')).text))
  for (const client of clients) client.close()
  await Promise.all(servers.map((server) => server.close()))
  assert.match(cluster ?? '', /coordination\.cluster\.io/)
  assert.match(kubernetes ?? '', /coordination\.k8s\.io/)
  assert.doesNotMatch(cluster ?? '', /k8s/)
  assert.doesNotMatch(kubernetes ?? '', /cluster\.io/)
})

/** A program that starts and closes servers; it must exit by itself. */
const program = `
  import { startServer } from 'cluster-apiserver'
  import { request } from 'node:https'
  const servers = [await startServer(), await startServer({ dataDir: process.argv[2] })]
  for (const server of servers) {
    await new Promise((resolve, reject) => {
      request(server.url + '/readyz', { ca: server.caPem, agent: false }, (response) => { response.resume(); response.on('end', resolve) }).on('error', reject).end()
    })
    await server.close()
  }
  console.log('closed')
`

test('after close() the process can exit, and only the data folder was written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'apiserver-cwd-'))
  const dataDir = join(folder, 'data')
  const module = join(repoRoot, '.build', 'embedding-program.mjs')
  writeFileSync(module, program)
  const { stdout, stderr } = await run(process.execPath, [module, dataDir], { cwd: folder, timeout: 20_000 })
  assert.equal(stdout, 'closed\n')
  assert.equal(stderr, '')
  assert.deepEqual(readdirSync(folder), ['data'])
  assert.ok(existsSync(join(dataDir, 'store')))
  rmSync(folder, { recursive: true })
})

test('close() can be called twice, and during requests', async () => {
  const server = await startServer()
  const client = clientOf(server)
  const requests = Promise.allSettled(Array.from({ length: 20 }, () => client.get('/api/v1/namespaces')))
  await Promise.all([server.close(), server.close()])
  await requests
  client.close()
  await assert.rejects(client.get('/readyz'))
})

test('a second close() waits for requests in flight; close({ immediately }) aborts them', async () => {
  const server = await startServer()
  const unfinishedRequest = await beginCreation(server)
  let isClosed = false
  const first = server.close()
  const second = server.close().then(() => {
    isClosed = true
  })
  await until(
    () => isReachable(server),
    (isOpen) => !isOpen,
  )
  assert.equal(isClosed, false)
  unfinishedRequest.write('}')
  await unfinishedRequest.until((text) => text.includes('"uid"'), 60_000)
  assert.deepEqual(unfinishedRequest.statuses, [201])
  await Promise.all([first, second])

  const other = await startServer({ flags: ['--shutdown-delay-duration=1h'] })
  const pending = await beginCreation(other)
  const gracefulClose = other.close()
  await other.close({ immediately: true })
  await gracefulClose
  assert.deepEqual(pending.statuses, [])
})

const isReachable = ({ port }: EmbeddedServer): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

/** Sends a POST without its last byte. */
async function beginCreation(server: EmbeddedServer): Promise<RawSocket> {
  const socket = await RawSocket.open({ url: server.url, ca: server.caPem, token: server.token })
  const body = JSON.stringify(configMapOf('slow'))
  const head = `POST ${configMaps('default')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`)
  const client = clientOf(server)
  const inFlight = async (): Promise<number> =>
    readMetrics((await client.get('/metrics')).text).sum('apiserver_current_inflight_requests', { request_kind: 'mutating' })
  await until(inFlight, (count) => count === 1)
  client.close()
  return socket
}
