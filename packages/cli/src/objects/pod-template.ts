// The pod spec inside of an object: of a pod, a workload or a CronJob.

import { CommandError } from '../command-line/errors.js'

export type Spec = { readonly [field: string]: unknown }

const templatePaths = [['spec', 'jobTemplate', 'spec', 'template', 'spec'], ['spec', 'template', 'spec'], ['spec']] as const

interface FoundPodSpec {
  readonly path: readonly string[]
  readonly spec: Spec
}

/** `description`: the object in the error message. */
export function findPodSpec(object: Spec, description: string): FoundPodSpec {
  for (const path of templatePaths) {
    const spec = podSpecAt(object, path)
    if (spec !== undefined) return { path, spec }
  }
  throw new CommandError(`${description} the object is not a pod or does not have a pod template: ${String(object['kind'])}`)
}

function podSpecAt(object: Spec, steps: readonly string[]): Spec | undefined {
  let current: unknown = object
  for (const step of steps) current = (current as Spec | undefined)?.[step]
  return Array.isArray((current as Spec | undefined)?.['containers']) ? (current as Spec) : undefined
}

/** Returns a copy with the value at the path. */
export function setAt(object: Spec, [step, ...rest]: readonly string[], value: Spec): Spec {
  if (step === undefined) return value
  return { ...object, [step]: setAt((object[step] ?? {}) as Spec, rest, value) }
}
