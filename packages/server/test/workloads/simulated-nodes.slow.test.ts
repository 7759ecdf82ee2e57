// Simulated nodes of a whole server: pods run, fail, restart and stop; nodes are added, drained, fail and heal; the clock moves all of it.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type EmbeddedServer, type ServerOptions, startServer } from 'cluster-apiserver'
import { until } from '../../../../test/kit/fixtures.js'

const behaviour = 'simulation.cluster.io/behaviour'

async function start(t: TestContext, options: ServerOptions = { nodes: 2 }): Promise<EmbeddedServer> {
  const server = await startServer(options)
  t.after(() => server.close({ immediately: true }))
  return server
}

interface PodOptions {
  readonly rules?: object
  readonly spec?: object
  readonly node?: string
}

const createPod = ({ client }: EmbeddedServer, name: string, { rules, spec, node = 'node-1' }: PodOptions = {}) =>
  client.core.v1.pods('default').create({
    metadata: { name, ...(rules === undefined ? {} : { annotations: { [behaviour]: JSON.stringify(rules) } }) },
    spec: { nodeName: node, containers: [{ name: 'app', image: 'app:1' }], ...spec },
  })

const getPod = ({ client }: EmbeddedServer, name: string) => client.core.v1.pods('default').find(name)
type Pod = Awaited<ReturnType<typeof createPod>>

const isReady = (object: { readonly status?: { readonly conditions?: readonly { type?: string; status?: string }[] } } | undefined) =>
  object?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true

const untilPod = (server: EmbeddedServer, name: string, is: (pod: Pod | undefined) => boolean) => until(() => getPod(server, name), is)
const reasonOf = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason
const restartsOf = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0]?.restartCount ?? 0

test('simulated nodes are ready when the server starts, renew their leases, and run pods', async (t) => {
  const server = await start(t)
  const { core } = server.client
  const nodes = (await core.v1.nodes().list()).items
  assert.deepEqual(
    nodes.map(({ metadata }) => metadata?.name),
    ['node-1', 'node-2'],
  )
  assert.ok(nodes.every(isReady))
  await createPod(server, 'a')
  await createPod(server, 'b', { spec: { hostNetwork: true } })
  const a = await untilPod(server, 'a', isReady)
  const b = await untilPod(server, 'b', isReady)
  assert.equal(a?.status?.phase, 'Running')
  assert.match(a?.status?.podIP ?? '', /^10\.244\.\d+\.\d+$/)
  assert.equal(a?.status?.hostIP, nodes[0]?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address)
  assert.equal(b?.status?.podIP, a?.status?.hostIP)
  const reasons = (await core.v1.events('default').list()).items.map(({ reason }) => reason)
  assert.ok(reasons.includes('Started'), String(reasons))
  const leases = server.client.coordination.v1.leases('cluster-node-lease')
  const before = await leases.get('node-1')
  assert.equal(before.spec?.leaseDurationSeconds, 40)
  await server.clock.advance('1h')
  assert.ok(Date.parse((await leases.get('node-1')).spec?.renewTime ?? '') >= server.clock.now().getTime() - 20_000)
  assert.ok(isReady(await core.v1.nodes().get('node-1')))
  assert.equal((await getPod(server, 'a'))?.metadata?.uid, a?.metadata?.uid)
})

test('simulated pods: delays and crash loops follow the clock of the server', async (t) => {
  const server = await start(t)
  await createPod(server, 'slow', { rules: { startAfter: '1h', readyAfter: '1h' } })
  await createPod(server, 'crash', { rules: { exitCode: 1 } })
  await untilPod(server, 'slow', (pod) => reasonOf(pod) === 'ContainerCreating')
  await untilPod(server, 'crash', (pod) => reasonOf(pod) === 'CrashLoopBackOff')
  // Restarts at 0, 10, 30, 70 and 150 s.
  await server.clock.advance('2m')
  assert.deepEqual([reasonOf(await getPod(server, 'crash')), restartsOf(await getPod(server, 'crash'))], ['CrashLoopBackOff', 4])
  const events = (await server.client.core.v1.events('default').list()).items.map(({ reason }) => reason)
  assert.ok(events.includes('BackOff'), String(events))
  await server.clock.advance('50m')
  assert.equal(reasonOf(await getPod(server, 'slow')), 'ContainerCreating')
  await server.clock.advance('20m')
  assert.equal((await getPod(server, 'slow'))?.status?.phase, 'Running')
  assert.ok(!isReady(await getPod(server, 'slow')))
  await server.clock.advance('1h')
  assert.ok(isReady(await getPod(server, 'slow')))
})

test('simulated pods: rules that are not valid are an event and have no effect', async (t) => {
  const server = await start(t)
  await createPod(server, 'a', { rules: { exitCode: 'one' } })
  await untilPod(server, 'a', isReady)
  const events = (await server.client.core.v1.events('default').list()).items
  assert.match(events.find(({ reason }) => reason === 'InvalidBehaviour')?.message ?? '', /exitCode: must be a whole number/)
})

test('simulated pods stop within their grace period', async (t) => {
  const server = await start(t)
  const { core } = server.client
  await createPod(server, 'polite')
  await createPod(server, 'stubborn', { rules: { stopAfter: 'never' } })
  for (const name of ['polite', 'stubborn']) {
    await untilPod(server, name, isReady)
    await core.v1.pods('default').delete(name)
  }
  await untilPod(server, 'polite', (pod) => pod === undefined)
  await server.clock.advance('25s')
  assert.equal((await getPod(server, 'stubborn'))?.status?.containerStatuses?.[0]?.state?.terminated, undefined)
  await server.clock.advance('6s')
  assert.equal(await getPod(server, 'stubborn'), undefined)
})

test('server.nodes: a silent node becomes unknown and heals; pressure is a condition', async (t) => {
  const server = await start(t)
  const { core } = server.client
  const readyOf = async (name: string) => (await core.v1.nodes().get(name)).status?.conditions?.find(({ type }) => type === 'Ready')?.status
  await server.nodes.fail('node-1')
  await createPod(server, 'waits')
  await server.clock.advance('1m')
  assert.deepEqual([await readyOf('node-1'), await readyOf('node-2')], ['Unknown', 'True'])
  assert.equal((await getPod(server, 'waits'))?.status?.phase, 'Pending')
  await server.nodes.heal('node-1')
  await untilPod(server, 'waits', isReady)
  await server.nodes.fail('node-2', 'DiskPressure')
  await until(
    () => core.v1.nodes().get('node-2'),
    ({ status }) => status?.conditions?.some(({ type, status: value }) => type === 'DiskPressure' && value === 'True') === true,
  )
  await assert.rejects(server.nodes.fail('node-1', 'Fire' as never), /must be one of Silent, NotReady/)
})

test('server.nodes: adds, drains and removes nodes; annotated nodes are simulated', async (t) => {
  const server = await start(t, { nodes: 0 })
  const { core } = server.client
  const template = { name: 'big', count: 2, capacity: { cpu: 64 }, zones: ['a', 'b'], taints: [{ key: 'gpu', effect: 'NoSchedule' }] }
  assert.deepEqual(await server.nodes.add(template), ['big-1', 'big-2'])
  assert.deepEqual(await server.nodes.add({ name: 'big' }), ['big-3'])
  const big = await core.v1.nodes().get('big-2')
  assert.equal(big.metadata?.labels?.['topology.cluster.io/zone'], 'b')
  assert.deepEqual([big.status?.allocatable?.['cpu'], big.status?.allocatable?.['memory']], ['64', '32Gi'])
  assert.ok(big.spec?.taints?.some(({ key }) => key === 'gpu'))
  await createPod(server, 'a', { node: 'big-1' })
  await untilPod(server, 'a', isReady)
  await server.nodes.drain('big-1')
  assert.equal(await getPod(server, 'a'), undefined)
  assert.equal((await core.v1.nodes().get('big-1')).spec?.unschedulable, true)
  await server.nodes.remove('big-1')
  assert.equal(await core.v1.nodes().find('big-1'), undefined)
  await createPod(server, 'early', { node: 'mine' })
  await core.v1.nodes().create({ metadata: { name: 'mine', annotations: { 'simulation.cluster.io/node': 'true' } } })
  await untilPod(server, 'early', isReady)
  await core.v1.nodes().create({ metadata: { name: 'real' } })
  await createPod(server, 'unknown', { node: 'real' })
  await createPod(server, 'last', { node: 'mine' })
  await untilPod(server, 'last', isReady)
  assert.equal((await getPod(server, 'unknown'))?.status?.startTime, undefined)
})

test('simulated nodes: templates and rules of files, Deployments become available, forks and restarts continue', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'simulated-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const head = (kind: string) => `apiVersion: simulation.cluster.io/v1alpha1\nkind: ${kind}\n`
  const templates = file('nodes.yaml', `${head('NodeTemplates')}nodes:\n- { name: pool, count: 2, labels: { tier: web } }\n`)
  const rules = file('rules.yaml', `${head('SimulationRules')}rules:\n- match: { image: 'broken:*' }\n  imagePull: fails\n`)
  const server = await start(t, { flags: [`--node-templates=${templates}`, `--simulation-rules=${rules}`] })
  assert.equal((await server.client.core.v1.nodes().list({ labelSelector: 'tier=web' })).items.length, 2)
  await createPod(server, 'broken', { node: 'pool-1', spec: { containers: [{ name: 'app', image: 'broken:1' }] } })
  await untilPod(server, 'broken', (pod) => reasonOf(pod) === 'ErrImagePull')
  await server.clock.advance('3s')
  assert.equal(reasonOf(await getPod(server, 'broken')), 'ImagePullBackOff')
  const labels = { app: 'web' }
  await server.client.apps.v1.deployments('default').create({
    metadata: { name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { nodeName: 'pool-2', containers: [{ name: 'app', image: 'app:1' }] } },
    },
  })
  const deployment = ({ client }: EmbeddedServer) => client.apps.v1.deployments('default').get('web')
  await until(
    () => deployment(server),
    ({ status }) => status?.availableReplicas === 3,
  )
  await server.nodes.remove('pool-1')
  const fork = await server.fork()
  t.after(() => fork.close({ immediately: true }))
  await fork.client.apps.v1.deployments('default').patch('web', { spec: { replicas: 5 } })
  await until(
    () => deployment(fork),
    ({ status }) => status?.availableReplicas === 5,
  )
  assert.equal(await fork.client.core.v1.nodes().find('pool-1'), undefined)
  const wrong = file('wrong.yaml', `${head('NodeTemplates')}nodes:\n- { cpu: 3 }\n`)
  await assert.rejects(
    startServer({ flags: [`--node-templates=${wrong}`] }),
    /--node-templates: .*wrong.yaml: nodes\[0\]: cpu: unknown field/,
  )
  await assert.rejects(startServer({ nodes: [{ count: -1 }] }), /startServer: nodes\[0\]: count: must be a whole number/)
})

test('server.nodes without simulated nodes says how to get them', async (t) => {
  const server = await start(t, {})
  await assert.rejects(server.nodes.add(), /start it with the option "nodes"/)
})

test('logs of simulated pods: lines of rules or of the lifecycle, previous runs, and follow until the container exits', async (t) => {
  const server = await start(t)
  await createPod(server, 'plain', { spec: { terminationGracePeriodSeconds: 1 } })
  await createPod(server, 'lines', { rules: { log: ['one', 'two', 'three'] } })
  await createPod(server, 'crash', { rules: { exitCode: 2 } })
  await createPod(server, 'late', { rules: { startAfter: '1h' } })
  await createPod(server, 'job', { rules: { exitAfter: '1h' }, spec: { restartPolicy: 'Never' } })
  for (const name of ['plain', 'lines', 'job']) await untilPod(server, name, isReady)
  await untilPod(server, 'crash', (pod) => reasonOf(pod) === 'CrashLoopBackOff')
  await untilPod(server, 'late', (pod) => reasonOf(pod) === 'ContainerCreating')
  const log = async (name: string, query = '') => {
    const url = `${server.url}/api/v1/namespaces/default/pods/${name}/log${query}`
    return requestText(url, server)
  }
  assert.deepEqual(await log('plain'), [200, 'container app started\n'])
  assert.deepEqual(await log('lines', '?tailLines=2'), [200, 'two\nthree\n'])
  assert.deepEqual(await log('lines', '?limitBytes=5'), [200, 'one\nt'])
  assert.match((await log('lines', '?timestamps=true&tailLines=1'))[1], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ three\n$/)
  assert.deepEqual(await log('crash', '?previous=true'), [200, 'container app started\ncontainer app exited with code 2 (Error)\n'])
  const [code, text] = await log('late')
  assert.equal(code, 400)
  assert.match(text, /container \\"app\\" in pod \\"late\\" is waiting to start: ContainerCreating/)
  const followed = [log('job', '?follow=true'), log('plain', '?follow=true')]
  await server.clock.advance('61m')
  await server.client.core.v1.pods('default').delete('plain')
  assert.deepEqual(await followed[0], [200, 'container app started\ncontainer app exited with code 0 (Completed)\n'])
  assert.match((await followed[1])?.[1] ?? '', /^container app started\n/)
})

test('a HorizontalPodAutoscaler scales by the usage of simulated pods', async (t) => {
  const server = await start(t)
  const { apps, autoscaling } = server.client
  const labels = { app: 'busy' }
  const containers = [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '100m' } } }]
  const annotations = { [behaviour]: 'usage: { cpu: 200m }' }
  await apps.v1.deployments('default').create({
    metadata: { name: 'busy' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { nodeName: 'node-1', containers } },
    },
  })
  const replicas = async () => (await apps.v1.deployments('default').get('busy')).status?.availableReplicas
  await until(replicas, (count) => count === 1)
  await autoscaling.v2.horizontalPodAutoscalers('default').create({
    metadata: { name: 'busy' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' },
      maxReplicas: 3,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
    },
  })
  await until(
    async () => {
      await server.clock.advance('1m')
      return replicas()
    },
    (count) => count === 3,
  )
})

function requestText(url: string, { token, caPem }: EmbeddedServer): Promise<readonly [code: number, text: string]> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ca: caPem, headers: { authorization: `Bearer ${token}` } }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve([response.statusCode ?? 0, text]))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}
