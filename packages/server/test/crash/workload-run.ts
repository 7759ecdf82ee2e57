// Rounds of a rollout, a Job and the scaling of a StatefulSet at the same time, on servers that a test kills meanwhile.

import assert from 'node:assert/strict'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'
import { ChangeRecorder } from './change-recorder.js'
import { violationsOf } from './workload-rules.js'

const limits = { replicas: 10, maxSurge: 2, maxUnavailable: 1 }
const largeSet = 5
const completions = 20
const mergePatch = 'application/merge-patch+json'
const core = '/api/v1/namespaces/default'
const apps = '/apis/apps/v1/namespaces/default'
const batch = '/apis/batch/v1/namespaces/default'

/** Flags of every server: simulated nodes, and a history that covers the run. */
export const workloadFlags = ['--simulate-nodes=3', '--etcd-compaction-interval=1h']

export interface WorkloadRun {
  /** Clients of the servers that run now; the first one is used for writes. */
  readonly clients: () => readonly ApiClient[]
  readonly rounds: number
  /** Kills servers while the round is under way; resolves when all run again. */
  readonly kill: () => Promise<void>
}

/** Throws an AssertionError for violations. Returns the number of recorded changes. */
export async function runWorkloads({ clients, rounds, kill }: WorkloadRun): Promise<number> {
  const first = clients()[0]
  assert.ok(first)
  const { metadata } = expectStatus(await first.get(`${core}/pods`), 200).json
  const paths = [`${core}/pods`, `${apps}/replicasets`, `${batch}/jobs`]
  const recorder = new ChangeRecorder({ clients, paths, version: metadata.resourceVersion })
  const get = async (path: string): Promise<State> => {
    const client = clients()[0]
    return client === undefined
      ? noState
      : await client.get(path).then(
          ({ json }) => json as unknown as State,
          () => noState,
        )
  }
  /** Retries until a server has accepted the write. 409: it was accepted before the server was killed. */
  const write = (send: (client: ApiClient) => ReturnType<ApiClient['get']>): Promise<unknown> =>
    until(
      async () => {
        const client = clients()[0]
        return client === undefined
          ? 0
          : await send(client).then(
              ({ status }) => status,
              () => 0,
            )
      },
      (status) => [200, 201, 409].includes(status),
    )
  const create = (path: string, object: object) => write((client) => client.post(path, object))
  const patch = (path: string, spec: object) => write((client) => client.patch(path, mergePatch, { spec }))

  await create(`${apps}/deployments`, deployment)
  await create(`${apps}/statefulsets`, statefulSet)
  const isRolledOut = ({ metadata: { generation }, status }: State): boolean =>
    status?.observedGeneration === generation &&
    status?.updatedReplicas === limits.replicas &&
    status?.availableReplicas === limits.replicas &&
    status?.replicas === limits.replicas
  const isScaled =
    (replicas: number) =>
    ({ metadata: { generation }, status }: State): boolean =>
      status?.observedGeneration === generation && status?.replicas === replicas && (status?.readyReplicas ?? 0) === replicas
  await until(() => get(`${apps}/deployments/web`), isRolledOut)
  await until(() => get(`${apps}/statefulsets/db`), isScaled(largeSet))

  for (let round = 1; round <= rounds; round++) {
    const replicas = round % 2 === 1 ? 1 : largeSet
    await patch(`${apps}/deployments/web`, { template: templateOf('web', `app:${round + 1}`) })
    await patch(`${apps}/statefulsets/db`, { replicas })
    await create(`${batch}/jobs`, jobOf(`work-${round}`, round % 2 === 1 ? 'NonIndexed' : 'Indexed'))
    await kill()
    await until(() => get(`${apps}/deployments/web`), isRolledOut, 120_000)
    await until(() => get(`${apps}/statefulsets/db`), isScaled(replicas), 120_000)
    await until(
      () => get(`${batch}/jobs/work-${round}`),
      ({ status }) => status?.completionTime !== undefined,
      120_000,
    )
    await until(
      () => get(`${core}/pods?labelSelector=app%3Dweb`),
      ({ items = [] }) => items.length === limits.replicas,
      120_000,
    )
    await until(
      () => get(`${core}/pods?labelSelector=app%3Ddb`),
      ({ items = [] }) => items.length === replicas,
      120_000,
    )
    const { items = [] } = await get(`${core}/pods?labelSelector=app%3Dweb`)
    const images = new Set(items.map(({ spec }) => spec.containers[0]?.image))
    assert.deepEqual([...images], [`app:${round + 1}`])
    assert.equal((await get(`${batch}/jobs/work-${round}`)).status?.succeeded, completions)
  }
  const last = clients()[0]
  assert.ok(last)
  const changes = await recorder.close(last)
  const violations = violationsOf(changes, limits)
  assert.equal(violations.length, 0, violations.slice(0, 20).join('\n'))
  return changes.length
}

/** The fields of workloads and lists of pods that a round waits for. */
interface State {
  readonly metadata: Partial<JsonObject['metadata']>
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
    readonly readyReplicas?: number
    readonly succeeded?: number
    readonly completionTime?: string
  }
  readonly items?: readonly { readonly spec: { readonly containers: readonly { readonly image: string }[] } }[]
}

const noState: State = { metadata: { generation: -1 } }

const behaviours = {
  web: { readyAfter: '200ms', stopAfter: '200ms' },
  db: { readyAfter: '200ms', stopAfter: '300ms' },
  work: { exitAfter: '500ms' },
}

const templateOf = (app: keyof typeof behaviours, image: string) => ({
  metadata: { labels: { app }, annotations: { 'simulation.cluster.io/behaviour': JSON.stringify(behaviours[app]) } },
  spec: { containers: [{ name: 'main', image }] },
})

const deployment = {
  metadata: { name: 'web' },
  spec: {
    replicas: limits.replicas,
    selector: { matchLabels: { app: 'web' } },
    strategy: { rollingUpdate: { maxSurge: limits.maxSurge, maxUnavailable: limits.maxUnavailable } },
    template: templateOf('web', 'app:1'),
  },
}

const statefulSet = {
  metadata: { name: 'db' },
  spec: { replicas: largeSet, serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template: templateOf('db', 'db:1') },
}

function jobOf(name: string, completionMode: 'NonIndexed' | 'Indexed') {
  const template = templateOf('work', 'work:1')
  return {
    metadata: { name },
    spec: { completions, parallelism: 5, completionMode, template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
  }
}
