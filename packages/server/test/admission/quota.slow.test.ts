// ResourceQuota: never exceeded and no usage lost under concurrent load and crashes; charges of pods.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus, newNamespace, sleep, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { seededRandom } from '../../../../test/kit/seeded-random.js'
import { newFolder, ServerProcess } from '../../../../test/kit/server-process.js'
import { createAndDelete, fillUp, makeQuota, quotaIn } from './quota-scenario.js'

const scenarioMs = Number(process.env['QUOTA_SECONDS'] ?? 1) * 1000

test('64 concurrent clients while the server is killed repeatedly', async () => {
  const dataDir = newFolder()
  const random = seededRandom('QUOTA_SEED')
  let server = await ServerProcess.start({ dataDir })
  const namespace = await newNamespace(server.client)
  await makeQuota(server.client, namespace)
  const untilMs = Date.now() + 2 * scenarioMs
  const scenario = createAndDelete({ client: () => server.client, namespace, random, untilMs })
  while (Date.now() < untilMs) {
    await sleep(300 + random.below(500))
    await server.kill()
    server = await ServerProcess.start({ dataDir })
  }
  await scenario
  await fillUp(server.client, namespace)
  await server.kill()
  rmSync(dataDir, { recursive: true, force: true })
})

test('pods are charged by requests, credited when they end, and rejected without requests', async () => {
  const { client, close } = await startEmbedded('memory')
  const namespace = await newNamespace(client)
  await untilStatus(() => client.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`), 200)
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
  const rejected = expectStatus(await client.post(pods, pod('b', '500m')), 403)
  assert.match(rejected.text, /exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1/)
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
