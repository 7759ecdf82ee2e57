// What a pod spec says when it says nothing: in pods and in every template of them.

import type { Identity } from '../../../api/identity.js'
import type { PodSpec, PodTemplateSpec } from '../v1.schema.js'
import { mapContainers, mapItems } from './all-containers.js'
import { withContainerDefaults, withHostPorts, withRequests } from './container-defaults.js'
import { withoutInitAnnotations } from './init-annotations.js'
import { withChanged, withMissing } from './missing-members.js'
import { roundedResources } from './quantities.js'
import { withVolumeDefaults } from './volume-defaults.js'

const specDefaults: PodSpec = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
  schedulerName: 'default-scheduler',
}

export function withPodSpecDefaults(spec: PodSpec): PodSpec {
  let next = withMissing(withServiceAccount(spec), specDefaults)
  if (next.hostNetwork === true) next = withChanged(withChanged(next, 'containers', withHostPorts), 'initContainers', withHostPorts)
  next = withChanged(next, 'volumes', (volumes) => mapItems(volumes, withVolumeDefaults))
  next = mapContainers(next, withContainerDefaults)
  return withChanged(next, 'overhead', roundedResources)
}

/** The account has an old name too, and both are always the same. */
function withServiceAccount(spec: PodSpec): PodSpec {
  const account = spec.serviceAccountName ?? spec.serviceAccount
  if (account === undefined || (spec.serviceAccountName === account && spec.serviceAccount === account)) return spec
  return { ...spec, serviceAccountName: account, serviceAccount: account }
}

/** Only in pods themselves: what they ask for, and variables for services. */
export function withPodDefaults(spec: PodSpec): PodSpec {
  const requested = withChanged(withChanged(spec, 'containers', withRequests), 'initContainers', withRequests)
  return withPodSpecDefaults(withMissing(requested, { enableServiceLinks: true }))
}

/** A template is always there, even where it was left out. */
export function withTemplateDefaults(template: PodTemplateSpec | undefined, identity: Identity): PodTemplateSpec {
  const spec = withPodSpecDefaults(template?.spec ?? {})
  return withoutInitAnnotations(template !== undefined && spec === template.spec ? template : { ...template, spec }, identity)
}
