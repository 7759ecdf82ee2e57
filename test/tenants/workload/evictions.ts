// Evictions of pods with a PodDisruptionBudget that allows some of them. Each eviction must be charged once.

import type { JsonObject } from '../../kit/network/json-object.js'
import type { CallResult } from '../client.js'
import { laneLabel, podKind } from '../kinds.js'
import type { Lane } from '../lane.js'
import type { Key } from '../model.js'
import { encode, json, pickForObject, withQuery } from '../representations.js'
import { payloadText } from './payload.js'

const mergeType = 'application/merge-patch+json'

/** One round: budget, pods, concurrent evictions, check of the budget, cleanup. */
export async function evictPods(lane: Lane, isOver: () => boolean): Promise<void> {
  const { namespace } = lane.tenant
  const budget = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/${lane.model.lane}`
  const allowed = 1 + lane.random.below(2)
  await lane.deleteUncertain(podKind)
  try {
    if (!(await makeBudget(lane, budget, allowed))) return
    const pods = await makePods(lane, allowed + 1)
    if (pods === undefined || isOver()) return
    await evict(lane, pods[0] as Key, 'dryRun=All')
    const outcomes = await Promise.all(pods.map(async (pod) => ({ pod, called: await evict(lane, pod) })))
    for (const { pod, called } of outcomes) lane.settle(pod, undefined, called)
    if (outcomes.every(({ called }) => called.isKnown)) await checkBudget(lane, budget, allowed, outcomes)
  } finally {
    await cleanUp(lane, budget)
  }
}

async function makeBudget(lane: Lane, path: string, allowed: number): Promise<boolean> {
  const { mark } = lane.tenant
  const id = lane.ids.next()
  const metadata = {
    name: lane.model.lane,
    labels: { mark },
    // Half of the budgets have many commas, so that the server handles their writes as large requests.
    annotations: { mark, large: lane.random.below(2) === 0 ? payloadText(mark, id, 120_000) : '' },
  }
  const object = { metadata, spec: { minAvailable: 1, selector: { matchLabels: { [laneLabel]: lane.model.lane } } } }
  const post = { method: 'POST', path: path.slice(0, path.lastIndexOf('/')), body: encode(object, 'JSON') }
  const created = await lane.client.call({ verb: 'create', ...post, expect: [201], isUndisturbed: true })
  if (!created.isOk) return false
  const status = {
    disruptionsAllowed: allowed,
    currentHealthy: allowed + 1,
    desiredHealthy: 1,
    expectedPods: allowed + 1,
    observedGeneration: 1,
  }
  const patched = { method: 'PATCH', path: `${path}/status`, body: encode({ status }, 'JSON'), contentType: mergeType }
  return (await lane.client.call({ verb: 'patch status', ...patched, expect: [200], isUndisturbed: true })).isOk
}

async function makePods(lane: Lane, count: number): Promise<readonly Key[] | undefined> {
  const pods: Key[] = []
  for (let i = 0; i < count; i++) {
    const pod = lane.model.newKey(podKind)
    const version = lane.newVersion(podKind)
    const called = await lane.client.call({
      verb: 'create',
      method: 'POST',
      path: lane.collection(podKind),
      body: encode(lane.object(pod, version, 'v1'), 'JSON'),
      as: pickForObject(lane.random, true),
      contains: [version.id, pod.name],
      expect: [201],
    })
    lane.settle(pod, version, called)
    if (!called.isOk) return undefined
    const { mark } = lane.tenant
    const status = { phase: 'Running', message: mark, conditions: [{ type: 'Ready', status: 'True', message: mark }] }
    const patched = { method: 'PATCH', path: `${lane.pathOf(pod)}/status`, body: encode({ status }, 'JSON'), contentType: mergeType }
    const contains = [version.id, pod.name]
    if (!(await lane.client.call({ verb: 'patch status', ...patched, contains, expect: [200], isUndisturbed: true })).isOk) return undefined
    pods.push(pod)
  }
  return pods
}

function evict(lane: Lane, pod: Key, query = ''): Promise<CallResult> {
  return lane.client.call({
    verb: `evict${query === '' ? '' : ' dry run'}`,
    method: 'POST',
    path: withQuery(`${lane.pathOf(pod)}/eviction`, query),
    body: encode({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod.name } }, 'JSON'),
    expect: [201, 429],
    isUndisturbed: true,
  })
}

interface BudgetStatus {
  readonly disruptionsAllowed?: number
  readonly disruptedPods?: Readonly<Record<string, string>>
}

async function checkBudget(
  lane: Lane,
  path: string,
  allowed: number,
  outcomes: readonly { readonly pod: Key; readonly called: CallResult }[],
): Promise<void> {
  const read = await lane.client.call({ verb: 'get', method: 'GET', path, as: json, expect: [200], isUndisturbed: true })
  if (!read.isOk) return
  const { disruptionsAllowed = 0, disruptedPods = {} } = (JSON.parse(read.response.body.toString()) as JsonObject)['status'] as BudgetStatus
  const evicted = outcomes.filter(({ called }) => called.isOk).map(({ pod }) => pod.name)
  const charged = Object.keys(disruptedPods)
  const isRight =
    evicted.length === allowed &&
    disruptionsAllowed === allowed - evicted.length &&
    charged.length === evicted.length &&
    evicted.every((name) => charged.includes(name))
  if (isRight) return
  const text = `allowed ${allowed}, evicted ${evicted.join(' ')}; the budget allows ${disruptionsAllowed} more and names ${charged.join(' ')}`
  lane.client.checks.addFinding('disruption budget', text)
}

async function cleanUp(lane: Lane, budget: string): Promise<void> {
  for (const pod of lane.model.present(podKind)) {
    const called = await lane.client.call({
      verb: 'delete',
      method: 'DELETE',
      path: lane.pathOf(pod),
      contains: [pod.name],
      expect: [200],
      isUndisturbed: true,
    })
    lane.settle(pod, undefined, called)
  }
  const tryDeleteBudget = async (): Promise<boolean> => {
    const { response, isKnown } = await lane.client.call({
      verb: 'delete',
      method: 'DELETE',
      path: budget,
      expect: [200, 404],
      isUndisturbed: true,
    })
    return isKnown && response.status < 500
  }
  for (let tries = 0; tries < 20 && !(await tryDeleteBudget()); tries++) await new Promise((resolve) => setTimeout(resolve, 100))
}
