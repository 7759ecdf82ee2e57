// As whom containers run, what they may do, and what the operating system knows of that.

import { test } from 'node:test'
import type { PodSpec, SecurityContext } from '../v1.schema.js'
import { assertFound, container, contextWith, type Row, specErrors } from './pod-spec.fixture.js'

const c = 'spec.containers[0].securityContext'

const containerRows: readonly Row<SecurityContext>[] = [
  {
    title: 'everything allowed',
    given: { privileged: true, runAsUser: 0, procMount: 'Unmasked', seccompProfile: { type: 'RuntimeDefault' } },
    found: [],
  },
  {
    title: 'ids below zero',
    given: { runAsUser: -1, runAsGroup: 2147483648 },
    found: [
      `${c}.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
      `${c}.runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive`,
    ],
  },
  {
    title: 'an unknown way to mount',
    given: { procMount: 'Half' },
    found: [`${c}.procMount: Unsupported value: "Half": supported values: "Default", "Unmasked"`],
  },
  {
    title: 'a filter from nowhere',
    given: { seccompProfile: { type: 'Localhost' } },
    found: [`${c}.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost`],
  },
  {
    title: 'a filter that climbs',
    given: { seccompProfile: { type: 'Localhost', localhostProfile: '../x' } },
    found: [`${c}.seccompProfile.localhostProfile: Invalid value: "../x": must not contain '..'`],
  },
  {
    title: 'a filter without a type',
    given: { seccompProfile: {} },
    found: [`${c}.seccompProfile.type: Required value: type is required when seccompProfile is set`],
  },
  {
    title: 'a filter of an unknown type',
    given: { seccompProfile: { type: 'Loose', localhostProfile: 'x' } },
    found: [
      `${c}.seccompProfile.type: Unsupported value: "Loose": supported values: "Localhost", "RuntimeDefault", "Unconfined"`,
      `${c}.seccompProfile.localhostProfile: Invalid value: {"type":"Loose","localhostProfile":"x"}: can only be set when seccomp type is Localhost`,
    ],
  },
  {
    title: 'rights that cannot be kept',
    given: { allowPrivilegeEscalation: false, privileged: true, capabilities: { add: ['CAP_SYS_ADMIN'] } },
    found: [
      `${c}: Invalid value: {"allowPrivilegeEscalation":false,"privileged":true,"capabilities":{"add":["CAP_SYS_ADMIN"]}}: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
      `${c}: Invalid value: {"allowPrivilegeEscalation":false,"privileged":true,"capabilities":{"add":["CAP_SYS_ADMIN"]}}: cannot set \`allowPrivilegeEscalation\` to false and \`capabilities.Add\` CAP_SYS_ADMIN`,
    ],
  },
  {
    title: 'wrong names for Windows',
    given: { windowsOptions: { gmsaCredentialSpecName: 'A b', gmsaCredentialSpec: '', runAsUserName: 'a.b\\\\c' } },
    found: [
      `${c}.windowsOptions.gmsaCredentialSpecName: Invalid value: "A b"`,
      `${c}.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string`,
      `${c}.windowsOptions.runAsUserName: Invalid value: "a.b\\\\\\\\c": runAsUserName cannot contain more than one backslash`,
    ],
  },
  {
    title: 'a user of dots in a domain of stars',
    given: { windowsOptions: { runAsUserName: '*\\..' } },
    found: [
      `${c}.windowsOptions.runAsUserName: Invalid value: "*\\\\..": runAsUserName's Domain doesn't match`,
      `${c}.windowsOptions.runAsUserName: Invalid value: "*\\\\..": runAsUserName's User cannot contain only periods or spaces`,
    ],
  },
]

for (const { title, given, found } of containerRows) {
  test(`a container with ${title}`, () => assertFound(specErrors({ containers: [container({ securityContext: given })] }), found))
}

test('privileged containers can be forbidden for all', () => {
  const spec = { containers: [container({ securityContext: { privileged: true } })] }
  assertFound(specErrors(spec, contextWith({ forbidsPrivileged: true })), [`${c}.privileged: Forbidden: disallowed by cluster policy`])
})

const s = 'spec.securityContext'
const podRows: readonly Row<PodSpec>[] = [
  {
    title: 'wrong groups, parameters and policies',
    given: {
      securityContext: {
        fsGroup: -1,
        fsGroupChangePolicy: 'Never',
        sysctls: [{ name: 'a b' }, { name: 'kernel.x' }, { name: 'kernel.x' }, {}, { name: 'net/ipv4/x' }],
        supplementalGroups: [1, -5],
      },
    },
    found: [
      `${s}.fsGroup: Invalid value: -1`,
      `${s}.supplementalGroups[1]: Invalid value: -5`,
      `${s}.sysctls[0].name: Invalid value: "a b": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*`,
      `${s}.sysctls[2].name: Duplicate value: "kernel.x"`,
      `${s}.sysctls[3].name: Required value`,
      `${s}.fsGroupChangePolicy: Unsupported value: "Never": supported values: "Always", "OnRootMismatch"`,
    ],
  },
  {
    title: 'ports of its own on the network of the node',
    given: { hostNetwork: true, containers: [container({ ports: [{ containerPort: 1, hostPort: 2 }, { containerPort: 3 }] })] },
    found: ['spec.containers[0].ports[0].containerPort: Invalid value: 1: must match `hostPort` when `hostNetwork` is true'],
  },
  {
    title: 'two ways to share processes',
    given: { hostPID: true, shareProcessNamespace: true },
    found: [`${s}.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled`],
  },
  {
    title: 'users of its own, but little else',
    given: {
      hostUsers: false,
      hostNetwork: true,
      hostPID: true,
      hostIPC: true,
      volumes: [{ name: 'e' }, { name: 'h', hostPath: { path: '/' } }],
    },
    found: [
      'spec.volumes[1]: Forbidden: volume type not supported when `pod.Spec.HostUsers` is false',
      'spec.hostNetwork: Forbidden: when `pod.Spec.HostUsers` is false',
      'spec.HostPID: Forbidden: when',
      'spec.HostIPC: Forbidden: when',
    ],
  },
  {
    title: 'an unknown system',
    given: { os: { name: 'beos' } },
    found: ['spec.os: Unsupported value: "beos": supported values: "linux", "windows"'],
  },
  { title: 'a system without a name', given: { os: {} }, found: ['spec.os.name: Required value: cannot be empty'] },
  {
    title: 'options for Windows on Linux',
    given: {
      os: { name: 'linux' },
      securityContext: { windowsOptions: {} },
      containers: [container({ securityContext: { windowsOptions: {} } })],
    },
    found: [
      `${s}.windowsOptions: Forbidden: windows options cannot be set for a linux pod`,
      `${c}.windowsOptions: Forbidden: windows options cannot be set for a linux pod`,
    ],
  },
  {
    title: 'options for Linux on Windows',
    given: {
      os: { name: 'windows' },
      hostPID: true,
      securityContext: { fsGroup: 1, runAsUser: 1 },
      containers: [container({ securityContext: { capabilities: {}, runAsGroup: 1 } })],
    },
    found: [
      'spec.hostPID: Forbidden: cannot be set for a windows pod',
      `${s}.fsGroup: Forbidden: cannot be set for a windows pod`,
      `${s}.runAsUser: Forbidden: cannot be set for a windows pod`,
      `${c}.capabilities: Forbidden: cannot be set for a windows pod`,
      `${c}.runAsGroup: Forbidden: cannot be set for a windows pod`,
    ],
  },
  {
    title: 'one process of the host among others',
    given: { containers: [container({ securityContext: { windowsOptions: { hostProcess: true } } }), container({ name: 'd' })] },
    found: [
      'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
      'spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
    ],
  },
  {
    title: 'a process of the host that contradicts its pod',
    given: {
      hostNetwork: true,
      securityContext: { windowsOptions: { hostProcess: false } },
      containers: [container({ securityContext: { windowsOptions: { hostProcess: true } } })],
    },
    found: [
      `${c}.windowsOptions.hostProcess: Invalid value: true: pod hostProcess value must be identical if both are specified, was false`,
    ],
  },
]

for (const { title, given, found } of podRows) test(`a pod with ${title}`, () => assertFound(specErrors(given), found))
