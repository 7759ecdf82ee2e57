// Jobs for tests: creates them, ends their pods and reads their status.

import assert from 'node:assert/strict'
import type { Job } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type { Event, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isActivePod } from '../kit/pod-state.js'
import { type WorkloadCluster, workloadCluster } from '../workload.fixture.js'

export const tracking = 'batch.kubernetes.io/job-tracking'
export const workTarget = { group: 'batch', plural: 'jobs', name: 'work' }

export const podSpec = (restartPolicy = 'Never') => ({ restartPolicy, containers: [{ name: 'main', image: 'app' }] })

export interface JobCluster extends WorkloadCluster {
  job(): Job
  /** Status without times and conditions, and the conditions as text. */
  status(): object
  pods(): readonly Pod[]
  active(): readonly Pod[]
  /** Ends a pod; `exitCode` 0 succeeds. */
  end(pod: Pod | undefined, exitCode: number): Promise<void>
  /** Reasons and messages of events. */
  events(): readonly string[]
}

export async function jobCluster(spec: object, createsJob = true): Promise<JobCluster> {
  const cluster = await workloadCluster(['job'])
  const job = (): Job => cluster.list<Job>('batch', 'jobs')[0] as Job
  const pods = (): readonly Pod[] => cluster.list<Pod>('', 'pods')
  if (createsJob) {
    await cluster.create('batch', 'jobs', { metadata: { name: 'work' }, spec: { template: { spec: podSpec() }, ...spec } })
    await cluster.settle()
  }
  return {
    ...cluster,
    job,
    status: () => {
      const { conditions = [], startTime, completionTime, ...rest } = job().status ?? {}
      const isDone = conditions.some(({ type, status }) => type === 'Complete' && status === 'True')
      assert.equal(completionTime !== undefined, isDone)
      const texts = conditions.map(({ type, status, reason = '' }) => `${type}=${status} ${reason}`.trim())
      return { ...rest, ...(texts.length === 0 ? {} : { conditions: texts }) }
    },
    pods,
    active: () => pods().filter(isActivePod),
    end: async (pod, exitCode) => {
      const state = { terminated: { exitCode } }
      const containerStatuses = [{ name: 'main', state, image: 'app', imageID: '', ready: false, restartCount: 0 }]
      const status = { phase: exitCode === 0 ? 'Succeeded' : 'Failed', containerStatuses }
      await cluster.patch({ group: '', plural: 'pods', name: pod?.metadata?.name ?? '' }, { status }, 'status')
    },
    events: () => cluster.list<Event>('', 'events').map(({ reason, message }) => `${reason}: ${message}`),
  }
}
