// Tests of security contexts of pods and containers, by operating system.

import { test } from 'node:test'
import { expectErrors, rowTitle } from '../../expect-errors.fixture.js'
import type { PodSpec, SecurityContext } from '../v1.schema.js'
import { container, contextWith, type Row, specErrors } from './pod-spec.fixture.js'

const containerPath = 'spec.containers[0].securityContext'

const containerRows: readonly Row<SecurityContext>[] = [
  [{ privileged: true, runAsUser: 0, procMount: 'Unmasked', seccompProfile: { type: 'RuntimeDefault' } }],
  [
    { runAsUser: -1, runAsGroup: 2147483648 },
    `${containerPath}.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
    `${containerPath}.runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive`,
  ],
  [{ procMount: 'Half' }, `${containerPath}.procMount: Unsupported value: "Half": supported values: "Default", "Unmasked"`],
  [
    { seccompProfile: { type: 'Localhost' } },
    `${containerPath}.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost`,
  ],
  [
    { seccompProfile: { type: 'Localhost', localhostProfile: '../x' } },
    `${containerPath}.seccompProfile.localhostProfile: Invalid value: "../x": must not contain '..'`,
  ],
  [{ seccompProfile: {} }, `${containerPath}.seccompProfile.type: Required value: type is required when seccompProfile is set`],
  [
    { seccompProfile: { type: 'Loose', localhostProfile: 'x' } },
    `${containerPath}.seccompProfile.type: Unsupported value: "Loose": supported values: "Localhost", "RuntimeDefault", "Unconfined"`,
    `${containerPath}.seccompProfile.localhostProfile: Invalid value: {"type":"Loose","localhostProfile":"x"}: can only be set when seccomp type is Localhost`,
  ],
  [
    { allowPrivilegeEscalation: false, privileged: true, capabilities: { add: ['CAP_SYS_ADMIN'] } },
    `${containerPath}: Invalid value: {"allowPrivilegeEscalation":false,"privileged":true,"capabilities":{"add":["CAP_SYS_ADMIN"]}}: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
    `${containerPath}: Invalid value: {"allowPrivilegeEscalation":false,"privileged":true,"capabilities":{"add":["CAP_SYS_ADMIN"]}}: cannot set \`allowPrivilegeEscalation\` to false and \`capabilities.Add\` CAP_SYS_ADMIN`,
  ],
  [
    { windowsOptions: { gmsaCredentialSpecName: 'A b', gmsaCredentialSpec: '', runAsUserName: 'a.b\\\\c' } },
    `${containerPath}.windowsOptions.gmsaCredentialSpecName: Invalid value: "A b"`,
    `${containerPath}.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string`,
    `${containerPath}.windowsOptions.runAsUserName: Invalid value: "a.b\\\\\\\\c": runAsUserName cannot contain more than one backslash`,
  ],
  [
    { windowsOptions: { runAsUserName: '*\\..' } },
    `${containerPath}.windowsOptions.runAsUserName: Invalid value: "*\\\\..": runAsUserName's Domain doesn't match`,
    `${containerPath}.windowsOptions.runAsUserName: Invalid value: "*\\\\..": runAsUserName's User cannot contain only periods or spaces`,
  ],
]

for (const [given, ...expected] of containerRows) {
  test(`a container: ${rowTitle(given, expected)}`, () =>
    expectErrors(specErrors({ containers: [container({ securityContext: given })] }), expected))
}

test('privileged containers can be disabled for the cluster', () => {
  const spec = { containers: [container({ securityContext: { privileged: true } })] }
  expectErrors(specErrors(spec, contextWith({ forbidsPrivileged: true })), [
    `${containerPath}.privileged: Forbidden: disallowed by cluster policy`,
  ])
})

const podPath = 'spec.securityContext'
const podRows: readonly Row<PodSpec>[] = [
  [
    {
      securityContext: {
        fsGroup: -1,
        fsGroupChangePolicy: 'Never',
        sysctls: [{ name: 'a b' }, { name: 'kernel.x' }, { name: 'kernel.x' }, {}, { name: 'net/ipv4/x' }],
        supplementalGroups: [1, -5],
      },
    },
    `${podPath}.fsGroup: Invalid value: -1`,
    `${podPath}.supplementalGroups[1]: Invalid value: -5`,
    `${podPath}.sysctls[0].name: Invalid value: "a b": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*`,
    `${podPath}.sysctls[2].name: Duplicate value: "kernel.x"`,
    `${podPath}.sysctls[3].name: Required value`,
    `${podPath}.fsGroupChangePolicy: Unsupported value: "Never": supported values: "Always", "OnRootMismatch"`,
  ],
  [
    { hostNetwork: true, containers: [container({ ports: [{ containerPort: 1, hostPort: 2 }, { containerPort: 3 }] })] },
    'spec.containers[0].ports[0].containerPort: Invalid value: 1: must match `hostPort` when `hostNetwork` is true',
  ],
  [
    { hostPID: true, shareProcessNamespace: true },
    `${podPath}.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled`,
  ],
  [
    { hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true, volumes: [{ name: 'e' }, { name: 'h', hostPath: { path: '/' } }] },
    'spec.volumes[1]: Forbidden: volume type not supported when `pod.Spec.HostUsers` is false',
    'spec.hostNetwork: Forbidden: when `pod.Spec.HostUsers` is false',
    'spec.HostPID: Forbidden: when',
    'spec.HostIPC: Forbidden: when',
  ],
  [{ os: { name: 'beos' } }, 'spec.os: Unsupported value: "beos": supported values: "linux", "windows"'],
  [{ os: {} }, 'spec.os.name: Required value: cannot be empty'],
  [
    {
      os: { name: 'linux' },
      securityContext: { windowsOptions: {} },
      containers: [container({ securityContext: { windowsOptions: {} } })],
    },
    `${podPath}.windowsOptions: Forbidden: windows options cannot be set for a linux pod`,
    `${containerPath}.windowsOptions: Forbidden: windows options cannot be set for a linux pod`,
  ],
  [
    {
      os: { name: 'windows' },
      hostPID: true,
      securityContext: { fsGroup: 1, runAsUser: 1 },
      containers: [container({ securityContext: { capabilities: {}, runAsGroup: 1 } })],
    },
    'spec.hostPID: Forbidden: cannot be set for a windows pod',
    `${podPath}.fsGroup: Forbidden: cannot be set for a windows pod`,
    `${podPath}.runAsUser: Forbidden: cannot be set for a windows pod`,
    `${containerPath}.capabilities: Forbidden: cannot be set for a windows pod`,
    `${containerPath}.runAsGroup: Forbidden: cannot be set for a windows pod`,
  ],
  [
    { containers: [container({ securityContext: { windowsOptions: { hostProcess: true } } }), container({ name: 'd' })] },
    'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
    'spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
  ],
  [
    {
      hostNetwork: true,
      securityContext: { windowsOptions: { hostProcess: false } },
      containers: [container({ securityContext: { windowsOptions: { hostProcess: true } } })],
    },
    `${containerPath}.windowsOptions.hostProcess: Invalid value: true: pod hostProcess value must be identical if both are specified, was false`,
  ],
]

for (const [given, ...expected] of podRows) test(`a pod: ${rowTitle(given, expected)}`, () => expectErrors(specErrors(given), expected))
