// What the commands about rollouts share: workloads that have a template of pods.

import type { DynamicObject } from '../client/objects.js'
import { Failure } from './failure.js'
import { type FlagTable, UsageError } from './flags.js'
import type { Io } from './io.js'
import type { LabelSelector } from './selector-query.js'
import type { Session } from './session.js'
import { type FileFlags, fileFlags, type Named, namedOrFiled, selectFlags } from './targets.js'

export interface Workload extends DynamicObject {
  readonly spec?: {
    readonly replicas?: number
    readonly paused?: boolean
    readonly selector?: LabelSelector
    readonly template?: PodTemplate
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly desiredNumberScheduled?: number
    readonly updatedNumberScheduled?: number
    readonly numberAvailable?: number
    readonly currentRevision?: string
    readonly updateRevision?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string }[]
  }
}

export interface PodTemplate {
  readonly metadata?: { readonly labels?: { readonly [name: string]: string }; readonly annotations?: { readonly [name: string]: string } }
  readonly spec?: object
}

export const rolloutFlags = { ...fileFlags, selector: selectFlags.selector } as const satisfies FlagTable

/** The workloads that were named, selected or filed; whoever names a type alone means all of it. */
export async function workloadsOf(
  { args, flags, session, io }: { readonly args: readonly string[]; readonly flags: FileFlags; readonly session: Session; readonly io: Io },
  allowed: readonly string[] = kinds,
): Promise<readonly Named[]> {
  if (args.length === 0 && flags.filename.length === 0) throw new UsageError('required resource not specified: TYPE NAME, TYPE/NAME or -f')
  const isWholeType = args.length === 1 && args[0]?.includes('/') === false && flags.filename.length === 0 && flags.selector === undefined
  const named = await namedOrFiled(args, { ...flags, all: isWholeType }, { session, io })
  for (const one of named) checkWorkload(one, allowed)
  return named
}

const kinds = ['Deployment', 'DaemonSet', 'StatefulSet']

function checkWorkload({ resource, name }: Named, allowed: readonly string[]): void {
  if (!allowed.includes(resource.kind))
    throw new UsageError(`${resource.resource} "${name}" has no rollout: ${allowed.map((kind) => kind.toLowerCase()).join(', ')} have`)
}

export interface Progress {
  readonly text: string
  readonly isDone: boolean
}

/** In the words that scripts know. */
export function progressOf(kind: string, object: Workload): Progress {
  const { spec = {}, status = {}, metadata } = object
  const name = metadata?.name ?? ''
  if ((metadata?.generation ?? 0) > (status.observedGeneration ?? 0))
    return { text: `Waiting for ${kind === 'DaemonSet' ? 'daemon set' : kind.toLowerCase()} spec update to be observed...`, isDone: false }
  if (kind === 'Deployment') return deploymentProgress(name, spec, status)
  if (kind === 'DaemonSet') {
    const desired = status.desiredNumberScheduled ?? 0
    if ((status.updatedNumberScheduled ?? 0) < desired)
      return {
        text: `Waiting for daemon set "${name}" rollout to finish: ${status.updatedNumberScheduled ?? 0} out of ${desired} new pods have been updated...`,
        isDone: false,
      }
    if ((status.numberAvailable ?? 0) < desired)
      return {
        text: `Waiting for daemon set "${name}" rollout to finish: ${status.numberAvailable ?? 0} of ${desired} updated pods are available...`,
        isDone: false,
      }
    return { text: `daemon set "${name}" successfully rolled out`, isDone: true }
  }
  const replicas = spec.replicas ?? 1
  if ((status.readyReplicas ?? 0) < replicas)
    return { text: `Waiting for ${replicas - (status.readyReplicas ?? 0)} pods to be ready...`, isDone: false }
  const partition = spec.updateStrategy?.rollingUpdate?.partition ?? 0
  if (partition > 0) {
    if ((status.updatedReplicas ?? 0) < replicas - partition)
      return {
        text: `Waiting for partitioned roll out to finish: ${status.updatedReplicas ?? 0} out of ${replicas - partition} new pods have been updated...`,
        isDone: false,
      }
    return { text: `partitioned roll out complete: ${status.updatedReplicas ?? 0} new pods have been updated...`, isDone: true }
  }
  if (status.updateRevision !== status.currentRevision)
    return {
      text: `waiting for statefulset rolling update to complete ${status.updatedReplicas ?? 0} pods at revision ${status.updateRevision}...`,
      isDone: false,
    }
  return { text: `statefulset rolling update complete ${status.replicas ?? 0} pods at revision ${status.currentRevision}...`, isDone: true }
}

function deploymentProgress(name: string, spec: NonNullable<Workload['spec']>, status: NonNullable<Workload['status']>): Progress {
  const late = status.conditions?.find(({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded')
  if (late !== undefined) throw new Failure(`deployment "${name}" exceeded its progress deadline`)
  const waiting = (text: string): Progress => ({ text: `Waiting for deployment "${name}" rollout to finish: ${text}`, isDone: false })
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status
  const wanted = spec.replicas ?? 1
  if (updatedReplicas < wanted) return waiting(`${updatedReplicas} out of ${wanted} new replicas have been updated...`)
  if (replicas > updatedReplicas) return waiting(`${replicas - updatedReplicas} old replicas are pending termination...`)
  if (availableReplicas < updatedReplicas) return waiting(`${availableReplicas} of ${updatedReplicas} updated replicas are available...`)
  return { text: `deployment "${name}" successfully rolled out`, isDone: true }
}
