// pods/binding: assigns a pod to a node on behalf of a scheduler.

import { badRequest, conflict, notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import { type ApiObject, members, withMetadata } from '@cluster-apiserver/api/api/object.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { validateBinding } from '@cluster-apiserver/api/resources/core/pod/binding.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { addressOf, type Engine } from '../engine.js'
import { change } from '../update.js'
import type { ActionRequest } from './virtual-resource-types.js'

interface Pod extends ApiObject {
  readonly spec?: { readonly nodeName?: string; readonly serviceAccountName?: string; readonly schedulingGates?: readonly unknown[] }
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] }
}

interface Binding extends ApiObject {
  readonly target?: { readonly kind?: string; readonly name?: string }
}

export async function bind(engine: Engine, call: Call, { body, validate }: ActionRequest): Promise<undefined> {
  const binding = body as Binding
  if ((binding.metadata?.name ?? '') !== call.name) throw badRequest('name in URL does not match name in Binding object')
  const problems = validateBinding(binding).map(({ field, message }) => `${field}: ${message}`)
  if (problems.length > 0) throw badRequest(problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`)
  await validate()
  const current = engine.store.read(addressOf(call))
  if (current === undefined) throw notFound(call.resource.subject, call.name)
  await change(engine, call, { current, isPatch: true, isAdmitted: true, next: ({ object }) => boundPod(call, object, binding) })
}

/** uid and resourceVersion of the Binding are preconditions. */
function checkConditions(call: Call, { metadata: found }: Pod, { metadata: wanted }: Binding): void {
  const refuse = (field: string, sent: string, actual: string | undefined) =>
    conflict(
      call.resource.subject,
      call.name,
      `Precondition failed: ${field} in precondition: ${shorten(sent)}, ${field} in object meta: ${actual}`,
    )
  if (wanted?.uid && wanted.uid !== found?.uid) throw refuse('UID', wanted.uid, found?.uid)
  const version = wanted?.resourceVersion
  if (version && version !== found?.resourceVersion) throw refuse('ResourceVersion', version, found?.resourceVersion)
}

function boundPod(call: Call, live: Pod, binding: Binding): ApiObject {
  const { name } = call
  const refuse = (message: string) => conflict({ ...call.resource.subject, resource: `${call.resource.name}/binding` }, name, message)
  checkConditions(call, live, binding)
  if (live.metadata?.deletionTimestamp !== undefined) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  if (live.spec?.nodeName) throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(live.spec.nodeName)}`)
  if (live.spec?.schedulingGates?.length && call.gates('PodSchedulingReadiness'))
    throw refuse(`pod ${name} has non-empty .spec.schedulingGates`)
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: timeOf(call.now) }
  const others = (live.status?.conditions ?? []).filter(({ type }) => type !== scheduled.type)
  const annotations =
    binding.metadata?.annotations === undefined ? {} : { annotations: { ...live.metadata?.annotations, ...binding.metadata.annotations } }
  const spec = { ...(members(live)['spec'] as object), nodeName: binding.target?.name }
  return withMetadata({ ...live, spec, status: { ...live.status, conditions: [...others, scheduled] } } as ApiObject, annotations)
}
