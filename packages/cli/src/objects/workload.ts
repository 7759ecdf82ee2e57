// Workloads with a pod template: argument resolution and rollout progress.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { CommandError } from '../command-line/errors.js'
import { type FlagTable, UsageError } from '../command-line/flags.js'
import type { Io } from '../command-line/io.js'
import type { Session } from '../command-line/session.js'
import type { LabelSelector } from './label-selector.js'
import type { NamedObject } from './named-object.js'
import { type FileFlags, fileFlags, resolveObjects, selectFlags } from './object-arguments.js'

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

export async function resolveWorkloads(
  { args, flags, session, io }: { readonly args: readonly string[]; readonly flags: FileFlags; readonly session: Session; readonly io: Io },
  allowed: readonly string[] = workloadKinds,
): Promise<readonly NamedObject[]> {
  if (args.length === 0 && flags.filename.length === 0) throw new UsageError('required resource not specified: TYPE NAME, TYPE/NAME or -f')
  const isWholeType = args.length === 1 && args[0]?.includes('/') === false && flags.filename.length === 0 && flags.selector === undefined
  const workloads = await resolveObjects(args, { ...flags, all: isWholeType }, { session, io })
  for (const workload of workloads) checkWorkload(workload, allowed)
  return workloads
}

const workloadKinds = ['Deployment', 'DaemonSet', 'StatefulSet']

function checkWorkload({ resource, name }: NamedObject, allowed: readonly string[]): void {
  if (!allowed.includes(resource.kind))
    throw new UsageError(
      `${resource.resource} "${name}" has no rollout; supported: ${allowed.map((kind) => kind.toLowerCase()).join(', ')}`,
    )
}

interface Progress {
  readonly text: string
  readonly isDone: boolean
}

export function rolloutProgress(kind: string, object: Workload): Progress {
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
  const exceeded = status.conditions?.find(({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded')
  if (exceeded !== undefined) throw new CommandError(`deployment "${name}" exceeded its progress deadline`)
  const waiting = (text: string): Progress => ({ text: `Waiting for deployment "${name}" rollout to finish: ${text}`, isDone: false })
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status
  const desired = spec.replicas ?? 1
  if (updatedReplicas < desired) return waiting(`${updatedReplicas} out of ${desired} new replicas have been updated...`)
  if (replicas > updatedReplicas) return waiting(`${replicas - updatedReplicas} old replicas are pending termination...`)
  if (availableReplicas < updatedReplicas) return waiting(`${availableReplicas} of ${updatedReplicas} updated replicas are available...`)
  return { text: `deployment "${name}" successfully rolled out`, isDone: true }
}
