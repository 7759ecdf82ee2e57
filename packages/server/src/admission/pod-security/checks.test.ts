// Each check of the Pod Security Standards with its message.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { PodSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { Level } from './namespace-policy.js'
import { detailsOf, evaluatePod } from './pod-security.js'

const identity = identityOf('kubernetes')
const secure = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
}

const specOf = (context: object, spec: object = {}): PodSpec =>
  ({ containers: [{ name: 'a', securityContext: { ...secure, ...context } }], ...spec }) as PodSpec

const violations = (level: Level, version: string, spec: PodSpec, annotations: { readonly [name: string]: string } = {}): string =>
  detailsOf(evaluatePod({ level, version }, { annotations, spec, identity }))

const baseline: readonly [string, PodSpec, string][] = [
  [
    'capabilities',
    specOf({ capabilities: { drop: ['ALL'], add: ['SYS_TIME', 'CHOWN', 'NET_RAW'] } }),
    'non-default capabilities (container "a" must not include "NET_RAW", "SYS_TIME" in securityContext.capabilities.add)',
  ],
  ['host namespaces', specOf({}, { hostNetwork: true, hostIPC: true }), 'host namespaces (hostNetwork=true, hostIPC=true)'],
  [
    'host paths',
    specOf(
      {},
      {
        volumes: [
          { name: 'v', hostPath: { path: '/' } },
          { name: 'w', emptyDir: {} },
        ],
      },
    ),
    'hostPath volumes (volume "v")',
  ],
  [
    'host ports',
    {
      containers: [
        {
          name: 'a',
          ports: [
            { containerPort: 1, hostPort: 80 },
            { containerPort: 2, hostPort: 443 },
          ],
        },
      ],
    },
    'hostPort (container "a" uses hostPorts 443, 80)',
  ],
  ['privileged', specOf({ privileged: true }), 'privileged (container "a" must not set securityContext.privileged=true)'],
  ['proc mounts', specOf({ procMount: 'Unmasked' }), 'procMount (container "a" must not set securityContext.procMount to "Unmasked")'],
  [
    'SELinux',
    specOf({ seLinuxOptions: { type: 'spc_t', user: 'u', role: 'r' } }),
    'seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
  ],
  [
    'seccomp',
    specOf({ seccompProfile: { type: 'Unconfined' } }),
    'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    'sysctls',
    specOf(
      {},
      {
        securityContext: {
          sysctls: [
            { name: 'kernel.sem', value: '1' },
            { name: 'net.ipv4.tcp_syncookies', value: '1' },
          ],
        },
      },
    ),
    'forbidden sysctls (kernel.sem)',
  ],
  [
    'host processes',
    specOf({}, { securityContext: { windowsOptions: { hostProcess: true } } }),
    'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
  ],
]

for (const [name, spec, expected] of baseline)
  test(`baseline: ${name}`, () => assert.equal(violations('baseline', 'latest', spec), expected))

test('baseline: AppArmor annotations', () => {
  const annotations = {
    'container.apparmor.security.beta.kubernetes.io/a': 'unconfined',
    'container.apparmor.security.beta.kubernetes.io/b': 'localhost/x',
  }
  assert.equal(
    violations('baseline', 'latest', specOf({}), annotations),
    'forbidden AppArmor profile (container.apparmor.security.beta.kubernetes.io/a="unconfined")',
  )
})

const restricted: readonly [string, PodSpec, string][] = [
  [
    'escalation',
    specOf({ allowPrivilegeEscalation: true }),
    'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false)',
  ],
  [
    'capabilities',
    specOf({ capabilities: { add: ['CHOWN', 'NET_BIND_SERVICE'] } }),
    'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "CHOWN" in securityContext.capabilities.add)',
  ],
  [
    'volumes',
    specOf(
      {},
      {
        volumes: [
          { name: 'v', nfs: {} },
          { name: 'w', hostPath: { path: '/' } },
          { name: 'x', secret: {} },
        ],
      },
    ),
    'restricted volume types (volumes "v", "w" use restricted volume types "hostPath", "nfs")',
  ],
  [
    'runAsNonRoot missing',
    specOf({ runAsNonRoot: undefined }),
    'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)',
  ],
  [
    'runAsNonRoot false',
    specOf({ runAsNonRoot: false }),
    'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)',
  ],
  ['root user', specOf({ runAsUser: 0 }), 'runAsUser=0 (container "a" must not set runAsUser=0)'],
  [
    'seccomp',
    specOf({ seccompProfile: undefined }),
    'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
]

for (const [name, spec, expected] of restricted)
  test(`restricted: ${name}`, () => assert.equal(violations('restricted', 'latest', spec), expected))

const versions: readonly [string, PodSpec, number][] = [
  ['escalation', specOf({ allowPrivilegeEscalation: true }), 8],
  ['capabilities', specOf({ capabilities: {} }), 22],
  ['root user', specOf({ runAsUser: 0 }), 23],
  ['seccomp', specOf({ seccompProfile: undefined }), 19],
]

for (const [name, spec, since] of versions) {
  test(`restricted: ${name} is checked since 1.${since}`, () => {
    assert.equal(violations('restricted', `v1.${since - 1}`, spec), '')
    assert.notEqual(violations('restricted', `v1.${since}`, spec), '')
  })
}

test('restricted: since 1.25 Windows pods are exempt from escalation, capabilities and seccomp checks', () => {
  const spec = { containers: [{ name: 'a', securityContext: { runAsNonRoot: true } }], os: { name: 'windows' } } as PodSpec
  assert.equal(violations('restricted', 'v1.25', spec), '')
  assert.match(violations('restricted', 'v1.24', spec), /allowPrivilegeEscalation.*unrestricted capabilities.*seccompProfile/)
})

test('before 1.19 seccomp annotations are checked, and not the fields', () => {
  const annotations = { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' }
  const spec = specOf({ seccompProfile: { type: 'Unconfined' } })
  assert.equal(
    violations('baseline', 'v1.18', spec, annotations),
    'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
  )
  assert.match(
    violations('baseline', 'v1.19', specOf({ seccompProfile: { type: 'Unconfined' } }), annotations),
    /container "a" must not set/,
  )
})

test('all container types are checked; privileged allows everything', () => {
  const privilegedContainer = (name: string) => ({ name, securityContext: { ...secure, privileged: true } })
  const spec = {
    initContainers: [privilegedContainer('i')],
    containers: [privilegedContainer('a')],
    ephemeralContainers: [privilegedContainer('e')],
  } as PodSpec
  assert.equal(violations('baseline', 'v1.99', spec), 'privileged (containers "i", "a", "e" must not set securityContext.privileged=true)')
  assert.equal(violations('privileged', 'latest', spec), '')
})
