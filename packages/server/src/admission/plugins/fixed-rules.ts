// Plugins with one fixed rule: AlwaysAdmit, AlwaysDeny, AlwaysPullImages, SecurityContextDeny, LimitPodHardAntiAffinityTopology and
// DenyServiceExternalIPs.

import { notSupported } from '@cluster-apiserver/api/api/field-error.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { mapContainers, visitContainers } from '@cluster-apiserver/api/resources/core/pod-spec/visit-containers.js'
import type { Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isSentEmpty } from '@cluster-apiserver/api/schema/json/sent-empty.js'
import { aggregate } from '../../auth/authorize.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import { type Pod, refuseRequest, withSpec, writtenPod } from '../pod-requests.js'

export const alwaysAdmit: Plugin = { name: 'AlwaysAdmit' }

const refuse = async (request: AdmissionRequest): Promise<never> => {
  throw refuseRequest(request, 'admission control is denying all modifications')
}

export const alwaysDeny: Plugin = { name: 'AlwaysDeny', mutate: refuse, validate: refuse }

const always = 'Always'

export const alwaysPullImages: Plugin = {
  name: 'AlwaysPullImages',
  collections: ['pods'],
  mutate: async (request) => {
    const pod = podWithNewImages(request)
    if (pod?.spec === undefined) return undefined
    return withSpec(
      pod,
      mapContainers(pod.spec, (container) => ({ ...container, imagePullPolicy: always })),
    )
  },
  validate: async (request) => {
    const pod = podWithNewImages(request)
    const problems: string[] = []
    visitContainers(pod?.spec ?? {}, 'spec', ({ imagePullPolicy = '' }, field) => {
      if (imagePullPolicy === always) return
      const { field: path, message } = notSupported(`${field}.imagePullPolicy`, imagePullPolicy, [always])
      problems.push(`${path}: ${message}`)
    })
    if (problems.length > 0) throw refuseRequest(request, aggregate(problems))
  },
}

function podWithNewImages(request: AdmissionRequest): Pod | undefined {
  const pod = writtenPod(request)
  if (pod === undefined || request.operation === 'CREATE') return pod
  const before = new Set(imagesOf(request.old as Pod | undefined))
  return imagesOf(pod).every((image) => before.has(image)) ? undefined : pod
}

function imagesOf(pod: Pod | undefined): readonly string[] {
  const images: string[] = []
  visitContainers(pod?.spec ?? {}, '', ({ image = '' }) => images.push(image))
  return images
}

export const securityContextDeny: Plugin = {
  name: 'SecurityContextDeny',
  collections: ['pods'],
  validate: async (request) => {
    const pod = writtenPod(request)
    if (pod === undefined || sameValue(pod.spec, (request.old as Pod | undefined)?.spec)) return
    const field = forbiddenField(pod)
    if (field !== undefined) throw refuseRequest(request, `${field} is forbidden`)
  },
}

function forbiddenField({ spec = {} }: Pod): string | undefined {
  const { supplementalGroups, seLinuxOptions, runAsUser, fsGroup } = spec.securityContext ?? {}
  if (supplementalGroups !== undefined || isSentEmpty(spec.securityContext, 'supplementalGroups'))
    return 'pod.Spec.SecurityContext.SupplementalGroups'
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

export const limitPodHardAntiAffinityTopology: Plugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  collections: ['pods'],
  validate: async (request) => {
    const pod = writtenPod(request)
    const allowed = request.identity.label('hostname')
    const terms = pod?.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const other = terms.find(({ topologyKey }) => topologyKey !== allowed)
    if (other === undefined) return
    throw refuseRequest(
      request,
      `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other.topologyKey ?? ''} but only key ${allowed} is allowed`,
    )
  },
}

export const denyServiceExternalIPs: Plugin = {
  name: 'DenyServiceExternalIPs',
  collections: ['services'],
  validate: async (request) => {
    const { operation, subresource, object, old } = request
    if (subresource !== '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return
    const current = (old as Service | undefined)?.spec?.externalIPs ?? []
    const wanted = (object as Service | undefined)?.spec?.externalIPs ?? []
    if (wanted.every((address) => current.includes(address))) return
    throw refuseRequest(request, 'Use of external IPs is denied by admission control')
  },
}
