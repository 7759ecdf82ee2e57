// Admission: runs the mutating and the validating plugins on a write, in their order.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { type AdmissionCounter, AdmissionCounters } from './admission-counters.js'
import type { AdmissionRequest, Plugin } from './admission-plugin.js'

export interface Admission {
  mutate(request: AdmissionRequest): Promise<ApiObject | undefined>
  validate(request: AdmissionRequest): Promise<void>
  /** Repeats checks right before a new object is stored; undefined: no plugin has such checks. */
  recheck?(request: AdmissionRequest): void
  readonly counters?: AdmissionCounters
}

export function createAdmission(plugins: readonly Plugin[], counters = new AdmissionCounters()): Admission {
  const stepsByCollection = new Map<string, PluginSteps>()
  const namedCollections = new Set(plugins.flatMap(({ collections = [] }) => collections))
  // Collections that no plugin names share one entry: the number of custom resources is unbounded.
  const stepsFor = ({ resource: { collection } }: AdmissionRequest): PluginSteps =>
    getOrInsert(stepsByCollection, namedCollections.has(collection) ? collection : otherCollections, () => {
      const applicable = plugins.filter(({ collections }) => collections === undefined || collections.includes(collection))
      return {
        mutating: applicable.flatMap(({ name, mutate }) =>
          mutate === undefined ? [] : [{ run: mutate, counter: counters.pluginCounter(name, 'admit') }],
        ),
        validating: applicable.flatMap(({ name, validate }) =>
          validate === undefined ? [] : [{ run: validate, counter: counters.pluginCounter(name, 'validate') }],
        ),
      }
    })
  const rechecks = plugins.flatMap(({ recheck }) => recheck ?? [])
  return {
    counters,
    mutate: (request) =>
      measure({ run: (current) => mutateWithReinvocation(stepsFor(current).mutating, current), counter: counters.steps.admit }, request),
    validate: (request) =>
      measure({ run: (current) => validateAll(stepsFor(current).validating, current), counter: counters.steps.validate }, request),
    recheck: (request) => {
      for (const recheck of rechecks) recheck(request)
    },
  }
}

const otherCollections = '*'

interface MeasuredStep<T> {
  readonly run: (request: AdmissionRequest) => Promise<T>
  readonly counter: AdmissionCounter
}

interface PluginSteps {
  readonly mutating: readonly MeasuredStep<ApiObject | undefined>[]
  readonly validating: readonly MeasuredStep<void>[]
}

async function measure<T>({ run, counter }: MeasuredStep<T>, request: AdmissionRequest): Promise<T> {
  const startMs = performance.now()
  let isRefused = true
  try {
    const result = await run(request)
    isRefused = false
    return result
  } finally {
    counter.observe(request.operation, isRefused, startMs)
  }
}

async function mutateWithReinvocation(steps: PluginSteps['mutating'], request: AdmissionRequest): Promise<ApiObject | undefined> {
  const object = await mutateAll(steps, request)
  if (!request.isReinvocationRequested) return object
  request.reinvocation.isReinvocation = true
  return await mutateAll(steps, request.withObject(object))
}

async function mutateAll(steps: PluginSteps['mutating'], request: AdmissionRequest): Promise<ApiObject | undefined> {
  let current = request
  for (const step of steps) {
    current = current.withObject((await measure(step, current)) ?? current.object)
    request.call.throwIfAborted()
  }
  return current.object
}

async function validateAll(steps: PluginSteps['validating'], request: AdmissionRequest): Promise<void> {
  for (const step of steps) {
    await measure(step, request)
    request.call.throwIfAborted()
  }
}
