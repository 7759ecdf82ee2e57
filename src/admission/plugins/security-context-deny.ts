// Pods may not say as whom they run, nor with which labels of SELinux.

import { visitContainers } from '../../resources/core/pod-spec/all-containers.js'
import type { Plugin } from '../admission.js'
import { changedPod, type Pod, refusePod } from '../pods.js'

export const securityContextDeny: Plugin = {
  name: 'SecurityContextDeny',
  collections: ['pods'],
  validate: (request) => {
    const pod = changedPod(request)
    const field = pod === undefined ? undefined : forbiddenField(pod)
    if (field !== undefined) throw refusePod(request, `${field} is forbidden`)
  },
}

function forbiddenField({ spec = {} }: Pod): string | undefined {
  const { supplementalGroups, seLinuxOptions, runAsUser, fsGroup } = spec.securityContext ?? {}
  if (supplementalGroups !== undefined) return 'pod.Spec.SecurityContext.SupplementalGroups'
  if (seLinuxOptions !== undefined) return 'pod.Spec.SecurityContext.SELinuxOptions'
  if (runAsUser !== undefined) return 'pod.Spec.SecurityContext.RunAsUser'
  if (fsGroup !== undefined) return 'pod.Spec.SecurityContext.FSGroup'
  let found: string | undefined
  visitContainers(spec, '', ({ securityContext }) => {
    if (found !== undefined) return
    if (securityContext?.seLinuxOptions !== undefined) found = 'SecurityContext.SELinuxOptions'
    else if (securityContext?.runAsUser !== undefined) found = 'SecurityContext.RunAsUser'
  })
  return found
}
