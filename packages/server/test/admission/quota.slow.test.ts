// A quota under fire: never above it, nothing lost, on one server and when it is killed.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { startEmbedded } from '../kit/embedded.js'
import { expectStatus, newNamespace, sleep, until } from '../kit/fixtures.js'
import { seededRandom } from '../kit/seeded-random.js'
import { newFolder, ServerProcess } from '../kit/server-process.js'
import { fillUp, makeAndDelete, makeQuota, mapsIn, quotaIn, usedIn } from './quota-play.js'

const playMs = Number(process.env['QUOTA_SECONDS'] ?? 1) * 1000

test('64 clients at once on one server', async () => {
  const { client, close } = await startEmbedded('memory')
  const namespace = await newNamespace(client)
  await makeQuota(client, namespace)
  await makeAndDelete({ client: () => client, namespace, random: seededRandom('QUOTA_SEED'), untilMs: Date.now() + playMs })
  await fillUp(client, namespace)
  await close()
})

test('64 clients at once, and the server is killed again and again', async () => {
  const dataDir = newFolder()
  const random = seededRandom('QUOTA_SEED')
  let server = await ServerProcess.start({ dataDir })
  const namespace = await newNamespace(server.client)
  await makeQuota(server.client, namespace)
  const untilMs = Date.now() + 2 * playMs
  const play = makeAndDelete({ client: () => server.client, namespace, random, untilMs })
  while (Date.now() < untilMs) {
    await sleep(300 + random.below(500))
    await server.kill()
    server = await ServerProcess.start({ dataDir })
  }
  await play
  await fillUp(server.client, namespace)
  await server.kill()
  rmSync(dataDir, { recursive: true, force: true })
})

test('pods are counted by what they ask for, given back when they end, and refused when they say nothing', async () => {
  const { client, close } = await startEmbedded('memory')
  const namespace = await newNamespace(client)
  await until(
    () => client.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`),
    ({ status }) => status === 200,
  )
  const pods = `/api/v1/namespaces/${namespace}/pods`
  const pod = (name: string, cpu?: string) => ({
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i', ...(cpu === undefined ? {} : { resources: { requests: { cpu } } }) }] },
  })
  const hard = { pods: '3', 'requests.cpu': '1' }
  expectStatus(await client.post(`/api/v1/namespaces/${namespace}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } }), 201)
  const used = async (): Promise<unknown> => (await client.get(quotaIn(namespace))).json['status']
  await until(used, (status) => (status as { used?: object } | undefined)?.used !== undefined)
  assert.deepEqual(await used(), { hard, used: { pods: '0', 'requests.cpu': '0' } })
  expectStatus(await client.post(pods, pod('a', '600m')), 201)
  assert.deepEqual(await used(), { hard, used: { pods: '1', 'requests.cpu': '600m' } })
  const over = expectStatus(await client.post(pods, pod('b', '500m')), 403)
  assert.match(over.text, /exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1/)
  assert.match(expectStatus(await client.post(pods, pod('c')), 403).text, /failed quota: q: must specify requests.cpu for: c/)
  expectStatus(await client.post(`${pods}?dryRun=All`, pod('d', '400m')), 201)
  assert.deepEqual(await used(), { hard, used: { pods: '1', 'requests.cpu': '600m' } })
  const ended = { method: 'PATCH', path: `${pods}/a/status`, headers: { 'content-type': 'application/merge-patch+json' } }
  expectStatus(await client.send({ ...ended, body: { status: { phase: 'Succeeded' } } }), 200)
  assert.deepEqual(await used(), { hard, used: { pods: '0', 'requests.cpu': '0' } })
  expectStatus(await client.post(pods, pod('b', '1')), 201)
  expectStatus(await client.send({ method: 'DELETE', path: `${pods}/b?gracePeriodSeconds=0` }), 200)
  assert.deepEqual(await used(), { hard, used: { pods: '0', 'requests.cpu': '0' } })
  await close()
})

test('a quota that comes or grows later counts what is there', async () => {
  const { client, close } = await startEmbedded('memory')
  const namespace = await newNamespace(client)
  for (const name of ['a', 'b', 'c']) expectStatus(await client.post(mapsIn(namespace), { metadata: { name } }), 201)
  await makeQuotaOf(2)
  await until(
    () => usedIn(client, namespace),
    (used) => used === 4,
  )
  expectStatus(await client.post(mapsIn(namespace), { metadata: { name: 'd' } }), 403)
  expectStatus(await client.send({ method: 'DELETE', path: `${mapsIn(namespace)}/a` }), 200)
  const patch = { method: 'PATCH', path: quotaIn(namespace), headers: { 'content-type': 'application/merge-patch+json' } }
  expectStatus(await client.send({ ...patch, body: { spec: { hard: { 'count/configmaps': '4' } } } }), 200)
  await until(
    () => client.post(mapsIn(namespace), { metadata: { name: 'd' } }),
    ({ status }) => status === 201,
  )
  expectStatus(await client.post(mapsIn(namespace), { metadata: { name: 'e' } }), 403)
  await close()

  async function makeQuotaOf(count: number): Promise<void> {
    const spec = { hard: { 'count/configmaps': String(count) } }
    await until(
      () => client.get(`${mapsIn(namespace)}/cluster-root-ca.crt`),
      ({ status }) => status === 200,
    )
    expectStatus(await client.post(`/api/v1/namespaces/${namespace}/resourcequotas`, { metadata: { name: 'q' }, spec }), 201)
  }
})
