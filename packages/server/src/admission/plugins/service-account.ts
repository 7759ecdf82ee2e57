// ServiceAccount plugin: sets the account of pods, mounts a token volume, and checks mountable secrets.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { pathSegmentProblems } from '@cluster-apiserver/api/api/validation/checks.js'
import type { AdmissionRequest, Plugin } from '../admission-plugin.js'
import type { Lookup } from '../lookup.js'
import { type Container, hasSecrets, newPod, type Pod, type PodSpec, refuseRequest, withSpec } from '../pod-requests.js'

interface ServiceAccount extends ApiObject {
  readonly automountServiceAccountToken?: boolean
  readonly imagePullSecrets?: readonly { readonly name?: string }[]
  readonly secrets?: readonly { readonly name?: string }[]
}

interface ServiceAccountOptions {
  readonly lookup: Lookup
  readonly randomSuffix: (length: number) => string
}

const accounts = { group: '', version: 'v1', resource: 'serviceaccounts' }
/** The value of kube-apiserver; not 3600, so that injected tokens differ from tokens requested for one hour. */
const tokenExpirationSeconds = 3607
const tokenFileMode = 0o644
const suffixLength = 5

export function serviceAccount({ lookup, randomSuffix }: ServiceAccountOptions): Plugin {
  return {
    name: 'ServiceAccount',
    collections: ['pods'],
    mutate: async (request) => {
      const pod = newPod(request)
      if (pod === undefined) return request.object
      const complete = isMirrorPod(request, pod) ? pod : withAccount(request, pod)
      // Checked here as well, so that these errors precede errors of later plugins and of validation.
      checkReferences(lookup, request.withObject(complete))
      return complete
    },
    validate: async (request) => checkReferences(lookup, request),
  }

  function withAccount(request: AdmissionRequest, pod: Pod): Pod {
    const name = pod.spec?.serviceAccountName || 'default'
    const account = accountOf(lookup, request, name)
    // `serviceAccount` is the deprecated alias that old clients read.
    const named = withSpec(pod, { serviceAccountName: name, serviceAccount: name })
    const mounted = shouldMountToken(named, account) ? withToken(request, named, randomSuffix) : named
    const hasPullSecrets = (mounted.spec?.imagePullSecrets?.length ?? 0) > 0 || account.imagePullSecrets === undefined
    return hasPullSecrets ? mounted : withSpec(mounted, { imagePullSecrets: account.imagePullSecrets ?? [] })
  }
}

const isMirrorPod = ({ identity }: AdmissionRequest, { metadata }: Pod): boolean =>
  metadata?.annotations?.[identity.label('config.mirror')] !== undefined

/** Mirror pods represent static pods of a kubelet and must not reference API objects. */
function checkMirrorPod(request: AdmissionRequest, { spec = {} }: Pod): void {
  if ((spec.serviceAccountName ?? '') !== '') throw refuseRequest(request, 'a mirror pod may not reference service accounts')
  if (hasSecrets(spec)) throw refuseRequest(request, 'a mirror pod may not reference secrets')
  const projectsToken = (spec.volumes ?? []).some(({ projected }) =>
    projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken !== undefined),
  )
  if (projectsToken) throw refuseRequest(request, 'a mirror pod may not use service account token volume projections')
}

function accountOf(lookup: Lookup, request: AdmissionRequest, name: string): ServiceAccount {
  const found = lookup.read<ServiceAccount>(accounts, { namespace: request.namespace, name })
  if (found !== undefined) return found
  const problems = pathSegmentProblems(name, false)
  const why =
    problems.length > 0
      ? `invalid resource name ${JSON.stringify(name)}: [${problems.join(' ')}]`
      : `serviceaccount ${JSON.stringify(name)} not found`
  throw refuseRequest(request, `error looking up service account ${request.namespace}/${name}: ${why}`)
}

const shouldMountToken = ({ spec }: Pod, account: ServiceAccount): boolean =>
  spec?.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true

/** Adds a token volume, and a mount to every container without one at that path. */
function withToken(request: AdmissionRequest, pod: Pod, randomSuffix: (length: number) => string): Pod {
  const { identity } = request
  const tokenMountPath = `/var/run/secrets/${identity.label('serviceaccount')}`
  const prefix = `${identity.prefixed('api-access')}-`
  const present = pod.spec?.volumes ?? []
  const name = present.find((volume) => volume.name?.startsWith(prefix))?.name ?? `${prefix}${randomSuffix(suffixLength)}`
  let hasNewMount = false
  const withMount = (container: Container): Container => {
    if (container.volumeMounts?.some(({ mountPath }) => mountPath === tokenMountPath)) return container
    hasNewMount = true
    return { ...container, volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: tokenMountPath }] }
  }
  const initContainers = pod.spec?.initContainers?.map(withMount)
  const containers = pod.spec?.containers?.map(withMount)
  const needsVolume = hasNewMount && !present.some((volume) => volume.name === name)
  return withSpec(pod, {
    ...(initContainers === undefined ? {} : { initContainers }),
    ...(containers === undefined ? {} : { containers }),
    ...(needsVolume ? { volumes: [...present, tokenVolume(name, identity.prefixed('root-ca.crt'))] } : {}),
  })
}

const tokenVolume = (name: string, caConfigMapName: string): NonNullable<PodSpec['volumes']>[number] => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: tokenExpirationSeconds, path: 'token' } },
      { configMap: { name: caConfigMapName, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ],
    defaultMode: tokenFileMode,
  },
})

const trueValues: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'True', 'TRUE'])

function checkReferences(lookup: Lookup, request: AdmissionRequest): void {
  const isEphemeralContainers =
    request.resource.collection === 'pods' && request.subresource === 'ephemeralcontainers' && request.operation === 'UPDATE'
  const pod = isEphemeralContainers ? (request.object as Pod | undefined) : newPod(request)
  if (pod === undefined) return
  if (isMirrorPod(request, pod)) {
    if (!isEphemeralContainers) checkMirrorPod(request, pod)
    return
  }
  const account = accountOf(lookup, request, pod.spec?.serviceAccountName ?? '')
  if (!trueValues.has(account.metadata?.annotations?.[request.identity.label('enforce-mountable-secrets')] ?? '')) return
  const problem = isEphemeralContainers
    ? environmentProblem('ephemeral container', pod.spec?.ephemeralContainers, account)
    : podProblem(pod, account)
  if (problem !== undefined) throw refuseRequest(request, problem)
}

const includesName = (names: ServiceAccount['secrets'], wanted = ''): boolean => (names ?? []).some(({ name }) => name === wanted)

function podProblem({ spec }: Pod, account: ServiceAccount): string | undefined {
  const name = account.metadata?.name
  const volume = spec?.volumes?.find(({ secret }) => secret !== undefined && !includesName(account.secrets, secret.secretName))
  if (volume !== undefined)
    return `volume with secret.secretName="${volume.secret?.secretName}" is not allowed because service account ${name} does not reference that secret`
  const inContainers =
    environmentProblem('init container', spec?.initContainers, account) ?? environmentProblem('container', spec?.containers, account)
  if (inContainers !== undefined) return inContainers
  const index = spec?.imagePullSecrets?.findIndex((secret) => !includesName(account.imagePullSecrets, secret.name)) ?? -1
  if (index < 0) return undefined
  return `imagePullSecrets[${index}].name="${spec?.imagePullSecrets?.[index]?.name}" is not allowed because service account ${name} does not reference that imagePullSecret`
}

function environmentProblem(
  containerType: string,
  containers: readonly Pick<Container, 'name' | 'env'>[] | undefined,
  account: ServiceAccount,
): string | undefined {
  for (const { name, env } of containers ?? []) {
    const variable = env?.find(
      ({ valueFrom }) => valueFrom?.secretKeyRef !== undefined && !includesName(account.secrets, valueFrom.secretKeyRef.name),
    )
    if (variable === undefined) continue
    return `${containerType} ${name} with envVar ${variable.name} referencing secret.secretName="${variable.valueFrom?.secretKeyRef?.name}" is not allowed because service account ${account.metadata?.name} does not reference that secret`
  }
  return undefined
}
