// Node lifecycle controller of a whole server, with a clock that the test moves.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { startWithFlags } from './start-with-flags.js'

interface Named {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
  readonly spec: { readonly taints?: readonly { readonly key: string; readonly effect: string }[] }
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
  readonly items: readonly { readonly reason: string; readonly message: string }[]
}

const merge = 'application/merge-patch+json'

async function start(t: TestContext) {
  const { server, client, namespace, core, get } = await startWithFlags<Named>(t, '--controllers=*,nodelifecycle')
  const report = async (name: string, status: string) => {
    const lastHeartbeatTime = server.clock
      .now()
      .toISOString()
      .replace(/\.\d+Z/, 'Z')
    const conditions = [{ type: 'Ready', status, lastHeartbeatTime }]
    expectStatus(await client.patch(`/api/v1/nodes/${name}/status`, merge, { status: { conditions } }), 200)
  }
  const addNode = async (name: string) => {
    expectStatus(await client.post('/api/v1/nodes', { metadata: { name } }), 201)
    await report(name, 'True')
  }
  const addPod = async (name: string, nodeName: string, tolerations: readonly object[] = []) => {
    const spec = { nodeName, tolerations, automountServiceAccountToken: false, containers: [{ name: 'main', image: 'app:1' }] }
    expectStatus(await client.post(`${core}/pods`, { metadata: { name }, spec }), 201)
    const conditions = [{ type: 'Ready', status: 'True' }]
    expectStatus(await client.patch(`${core}/pods/${name}/status`, merge, { status: { phase: 'Running', conditions } }), 200)
  }
  const readyOf = ({ status }: Named) => status.conditions?.find(({ type }) => type === 'Ready')?.status
  const taintsOf = ({ spec }: Named) => (spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`)
  const untilObject = (path: string, is: (object: Named) => boolean) => until(() => get(path), is)
  const events = async () => (await get(`${core}/events`)).items.map(({ reason, message }) => `${reason}: ${message}`)
  return { server, client, core, namespace, report, addNode, addPod, readyOf, taintsOf, untilObject, get, events }
}

test('a silent node turns Unknown after 40 s, its pods are not ready, and are deleted when their toleration ends', async (t) => {
  const { server, report, addNode, addPod, core, readyOf, taintsOf, untilObject, get } = await start(t)
  await addNode('silent')
  await addNode('alive')
  await addPod('web', 'silent')
  await untilObject('/api/v1/nodes/silent', (node) => taintsOf(node).length === 0)
  for (let second = 0; second < 60; second += 15) {
    await server.clock.advance('15s')
    await report('alive', 'True')
  }
  const node = await untilObject('/api/v1/nodes/silent', (it) => readyOf(it) === 'Unknown' && taintsOf(it).length === 2)
  assert.deepEqual(taintsOf(node), ['node.kubernetes.io/unreachable:NoSchedule', 'node.kubernetes.io/unreachable:NoExecute'])
  await untilObject(`${core}/pods/web`, (pod) => readyOf(pod) === 'False')
  assert.equal(readyOf(await get('/api/v1/nodes/alive')), 'True')
  for (let second = 0; second < 310; second += 31) {
    await server.clock.advance('31s')
    await report('alive', 'True')
  }
  await untilObject(`${core}/pods/web`, ({ metadata }) => metadata?.deletionTimestamp !== undefined)
  await report('silent', 'True')
  await server.clock.advance('5s')
  await untilObject('/api/v1/nodes/silent', (it) => taintsOf(it).length === 0)
})

test('a NoExecute taint deletes a pod when its toleration ends, unless the taint is removed', async (t) => {
  const { server, client, namespace, core, addNode, addPod, untilObject, get, events } = await start(t)
  await addNode('a')
  const tolerations = [{ key: 'drain', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 20 }]
  await addPod('patient', 'a', tolerations)
  const setTaints = async (taints: readonly object[]) =>
    expectStatus(await client.patch('/api/v1/nodes/a', merge, { spec: { taints } }), 200)
  await setTaints([{ key: 'drain', effect: 'NoExecute' }])
  await server.clock.advance('10s')
  await setTaints([])
  await until(events, (all) => all.includes(`TaintManagerEviction: Cancelling deletion of Pod ${namespace}/patient`))
  await setTaints([{ key: 'drain', effect: 'NoExecute' }])
  await server.clock.advance('15s')
  assert.equal((await get(`${core}/pods/patient`)).metadata.deletionTimestamp, undefined)
  await server.clock.advance('10s')
  const pod = await untilObject(`${core}/pods/patient`, ({ metadata }) => metadata?.deletionTimestamp !== undefined)
  assert.ok(pod.status.conditions?.some(({ type }) => type === 'DisruptionTarget'))
})
