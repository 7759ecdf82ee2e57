// An object as people read it: the kinds that are looked at most have sections of their own, all others an outline of their fields.

import type { DynamicObject } from '../../client/objects.js'
import type { Io } from '../io.js'
import { nameEntries } from './common.js'
import type { DescribeContext } from './context.js'
import { type Entry, renderEntries } from './entry.js'
import { describeNode } from './node.js'
import { outlineObject } from './outline.js'
import { describePod } from './pod.js'
import { describeService } from './service.js'
import { describeClaim, describeConfigMap, describeEvent, describeNamespace, describeSecret } from './stored.js'
import { describeDaemonSet, describeDeployment, describeJob, describeReplicaSet, describeStatefulSet } from './workloads.js'

type Describe<T> = (object: T, context: DescribeContext) => readonly Entry[] | Promise<readonly Entry[]>

/** By apiVersion and kind, which are the same under every identity. */
const kinds: ReadonlyMap<string, Describe<never>> = new Map<string, Describe<never>>([
  ['v1/Pod', describePod],
  ['v1/Service', describeService],
  ['v1/Node', describeNode],
  ['v1/ConfigMap', describeConfigMap],
  ['v1/Secret', describeSecret],
  ['v1/Namespace', describeNamespace],
  ['v1/PersistentVolumeClaim', describeClaim],
  ['v1/Event', describeEvent],
  ['apps/v1/Deployment', describeDeployment],
  ['apps/v1/ReplicaSet', describeReplicaSet],
  ['apps/v1/StatefulSet', describeStatefulSet],
  ['apps/v1/DaemonSet', describeDaemonSet],
  ['batch/v1/Job', describeJob],
])

export async function describeObject(object: DynamicObject, context: DescribeContext, { style }: Pick<Io, 'style'>): Promise<string> {
  const describe = kinds.get(`${object.apiVersion}/${object.kind}`)
  if (describe === undefined) return outlineObject(object, style)
  return renderEntries([...nameEntries(object), ...(await describe(object as never, context))], style)
}
