// Workload controllers on an engine without admission and with fake timers; the test acts as the kubelets.

import type { CallOptions } from '@cluster-apiserver/api/api/call.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { create } from '../../verbs/create.js'
import { withDefaults } from '../../verbs/version-conversion.js'
import type { ControllerParts } from '../framework/controller.js'
import { createTestEngine } from '../framework/engine.fixture.js'
import { ignoreErrors, internalCall, internalDelete, internalPatch, notFoundCodes } from '../framework/internal-call.js'
import { FakeTimers, flushTurns } from '../framework/timers.fixture.js'
import type { Controller } from '../leader-election/leader-election.js'
import { readAll, type WorkloadFlags } from './kit/workload-parts.js'
import { startWorkloads } from './start-workloads.js'
import type { WorkloadName } from './workload-table.js'

const startMs = Date.parse('2026-01-01T00:00:00Z')
export const namespace = 'n'

export interface WorkloadCluster {
  readonly parts: ControllerParts
  find(group: string, plural: string): Resource
  create(group: string, plural: string, object: object): Promise<void>
  /** Merge patch. */
  patch(target: Target, patch: object, subresource?: string): Promise<void>
  remove(target: Target, options?: CallOptions): Promise<void>
  list<T extends ApiObject>(group: string, plural: string): readonly T[]
  /** Sets phase and readiness of a pod, unless it was deleted meanwhile. */
  setPod(pod: Pod, phase: 'Running' | 'Failed', isReady: boolean): Promise<void>
  /** Waits until no controller has work, and lets `ms` pass. */
  settle(ms?: number): Promise<void>
  /** Stops the controllers and starts others, which know nothing. `whileStopped`: changes that no controller sees. */
  restart(whileStopped?: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

export interface Target {
  readonly group: string
  readonly plural: string
  readonly name: string
}

/** `gates`: feature gates that are on besides the defaults. */
export async function workloadCluster(
  names: readonly WorkloadName[],
  gates: readonly string[] = [],
  flags?: WorkloadFlags,
): Promise<WorkloadCluster> {
  const timers = new FakeTimers()
  const clock = { now: () => startMs + timers.now() }
  const { engine: plain, catalog, catalogs } = await createTestEngine('kubernetes', clock)
  let suffixes = 0
  const isOn = (gate: string): boolean => gates.includes(gate) || plain.gates(gate)
  const engine = { ...plain, gates: isOn, randomSuffix: () => String(++suffixes).padStart(5, '0') }
  const parts: ControllerParts = { engine, catalogs, logger: silentLogger, timers }
  const start = (): Controller => startWorkloads(() => parts, names, { flags })
  let controller = start()
  const find = (group: string, plural: string): Resource => {
    const resource = catalog.find(group, 'v1', plural) ?? catalog.find(group, 'v1alpha1', plural)
    if (resource === undefined) throw new Error(`${plural} are not served`)
    return resource
  }
  const rangeOf = (group: string, plural: string) => {
    const resource = find(group, plural)
    return { resource, namespace: resource.namespaced ? namespace : '' }
  }
  const targetOf = ({ group, plural, name }: Target) => ({ ...rangeOf(group, plural), name })
  const untilIdle = async (): Promise<void> => {
    do await flushTurns()
    while (controller.isIdle === false)
  }
  return {
    parts,
    find,
    create: async (group, plural, object) => {
      const { metadata } = object as ApiObject
      const range = rangeOf(group, plural)
      const call = internalCall(engine, { ...range, name: metadata?.name ?? '' })
      const namespaced = range.namespace === '' ? {} : { namespace }
      await create(engine, call, { object: withDefaults(call, { ...object, metadata: { ...metadata, ...namespaced } }) })
    },
    patch: async (target, patch, subresource) => {
      await internalPatch(engine, { ...targetOf(target), ...(subresource === undefined ? {} : { subresource }) }, patch)
    },
    remove: async (target, options = {}) => {
      await internalDelete(engine, { ...targetOf(target), options })
    },
    list: (group, plural) => {
      const range = rangeOf(group, plural)
      return [...readAll(parts, range.resource, range.namespace)] as never
    },
    setPod: async ({ metadata }, phase, isReady) => {
      const condition = { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: timeOf(clock.now()) }
      const status = { phase, conditions: [condition] }
      const target = { resource: find('', 'pods'), namespace, name: metadata?.name ?? '', subresource: 'status' }
      await ignoreErrors(notFoundCodes, internalPatch(engine, target, { status }))
    },
    settle: async (ms = 100) => {
      await untilIdle()
      await timers.advance(ms)
      await untilIdle()
    },
    restart: async (whileStopped) => {
      await controller.close()
      await whileStopped?.()
      controller = start()
    },
    close: () => controller.close(),
  }
}

/** Linear congruential generator: a whole number below `limit`. */
export function randomFrom(seed: number): (limit: number) => number {
  let state = seed * 2654435761 + 1
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}
