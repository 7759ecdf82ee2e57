// Checks of the Pod Security level baseline, in the order in which violations are reported.

import type { Check, CheckedPod, Violation } from './pod-check.js'
import { containerNamesWhere, containersNamed, plural, podAndContainers, quoted, sortedUnique } from './pod-check.js'
import { seccompAnnotations, seccompFields } from './restricted-checks.js'

const sinceFirstVersion = (id: string, check: Check['versions'][number]['check']): Check => ({
  id,
  level: 'baseline',
  versions: [{ since: 0, check }],
})

function appArmor({ annotations, identity }: CheckedPod): Violation | undefined {
  const prefix = identity.label('', 'container.apparmor.security.beta')
  const forbidden = Object.keys(annotations)
    .filter((name) => name.startsWith(prefix) && !isAppArmorAllowed(annotations[name] ?? ''))
    .map((name) => `${name}=${JSON.stringify(annotations[name])}`)
  if (forbidden.length === 0) return undefined
  return { reason: plural('forbidden AppArmor profile', forbidden), detail: sortedUnique(forbidden).join(', ') }
}

const isAppArmorAllowed = (profile: string): boolean => profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/')

const defaultCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

function capabilities(pod: CheckedPod): Violation | undefined {
  const added: string[] = []
  const names = containerNamesWhere(pod, ({ securityContext }) => {
    const nonDefault = (securityContext?.capabilities?.add ?? []).filter((capability) => !defaultCapabilities.has(capability))
    added.push(...nonDefault)
    return nonDefault.length > 0
  })
  if (names.length === 0) return undefined
  const detail = `${containersNamed(names)} must not include ${quoted(sortedUnique(added))} in securityContext.capabilities.add`
  return { reason: 'non-default capabilities', detail }
}

function hostNamespaces({ spec }: CheckedPod): Violation | undefined {
  const setFields = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((name) => spec[name] === true)
  return setFields.length === 0 ? undefined : { reason: 'host namespaces', detail: setFields.map((name) => `${name}=true`).join(', ') }
}

function hostPaths({ spec }: CheckedPod): Violation | undefined {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name ?? '')
  return names.length === 0 ? undefined : { reason: 'hostPath volumes', detail: `${plural('volume', names)} ${quoted(names)}` }
}

function hostPorts(pod: CheckedPod): Violation | undefined {
  const used: number[] = []
  const names = containerNamesWhere(pod, ({ ports }) => {
    const containerPorts = (ports ?? []).map(({ hostPort }) => hostPort ?? 0).filter((port) => port !== 0)
    used.push(...containerPorts)
    return containerPorts.length > 0
  })
  if (names.length === 0) return undefined
  const ports = sortedUnique(used.map(String))
  return {
    reason: 'hostPort',
    detail: `${containersNamed(names)} ${names.length === 1 ? 'uses' : 'use'} ${plural('hostPort', ports)} ${ports.join(', ')}`,
  }
}

function privileged(pod: CheckedPod): Violation | undefined {
  const names = containerNamesWhere(pod, ({ securityContext }) => securityContext?.privileged === true)
  if (names.length === 0) return undefined
  return { reason: 'privileged', detail: `${containersNamed(names)} must not set securityContext.privileged=true` }
}

function procMount(pod: CheckedPod): Violation | undefined {
  const values: string[] = []
  const names = containerNamesWhere(pod, ({ securityContext }) => {
    const value = securityContext?.procMount
    if (value === undefined || value === 'Default') return false
    values.push(value)
    return true
  })
  if (names.length === 0) return undefined
  return {
    reason: 'procMount',
    detail: `${containersNamed(names)} must not set securityContext.procMount to ${quoted(sortedUnique(values))}`,
  }
}

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t']

function seLinux(pod: CheckedPod): Violation | undefined {
  const types: string[] = []
  let setsUser = false
  let setsRole = false
  const isForbidden = (options: { readonly type?: string; readonly user?: string; readonly role?: string } | undefined): boolean => {
    const { type = '', user = '', role = '' } = options ?? {}
    const hasForbiddenType = !seLinuxTypes.includes(type)
    if (hasForbiddenType) types.push(type)
    setsUser ||= user !== ''
    setsRole ||= role !== ''
    return hasForbiddenType || user !== '' || role !== ''
  }
  const isSetOnPod = isForbidden(pod.spec.securityContext?.seLinuxOptions)
  const names = containerNamesWhere(pod, ({ securityContext }) => isForbidden(securityContext?.seLinuxOptions))
  if (!isSetOnPod && names.length === 0) return undefined
  const unique = sortedUnique(types)
  const settings = [
    ...(unique.length === 0 ? [] : [`${plural('type', unique)} ${quoted(unique)}`]),
    ...(setsUser ? ['user may not be set'] : []),
    ...(setsRole ? ['role may not be set'] : []),
  ]
  const detail = `${podAndContainers(isSetOnPod, names)} set forbidden securityContext.seLinuxOptions: ${settings.join('; ')}`
  return { reason: 'seLinuxOptions', detail }
}

const safeSysctls = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]

function sysctls({ spec }: CheckedPod): Violation | undefined {
  const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name ?? '').filter((name) => !safeSysctls.includes(name))
  return names.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: names.join(', ') }
}

function hostProcess(pod: CheckedPod): Violation | undefined {
  const isSetOnPod = pod.spec.securityContext?.windowsOptions?.hostProcess === true
  const names = containerNamesWhere(pod, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true)
  if (!isSetOnPod && names.length === 0) return undefined
  const detail = `${podAndContainers(isSetOnPod, names)} must not set securityContext.windowsOptions.hostProcess=true`
  return { reason: 'hostProcess', detail }
}

export const baselineChecks: readonly Check[] = [
  sinceFirstVersion('appArmorProfile', appArmor),
  sinceFirstVersion('capabilities_baseline', capabilities),
  sinceFirstVersion('hostNamespaces', hostNamespaces),
  sinceFirstVersion('hostPathVolumes', hostPaths),
  sinceFirstVersion('hostPorts', hostPorts),
  sinceFirstVersion('privileged', privileged),
  sinceFirstVersion('procMount', procMount),
  sinceFirstVersion('seLinuxOptions', seLinux),
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [
      { since: 0, check: seccompAnnotations },
      { since: 19, check: seccompFields },
    ],
  },
  sinceFirstVersion('sysctls', sysctls),
  sinceFirstVersion('windowsHostProcess', hostProcess),
]
