// Each check of the pod security standards, in the words in which it is told.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../api/identity.js'
import type { PodSpec } from '../../resources/core/v1.schema.js'
import { detailsOf, evaluatePod } from './evaluate.js'
import type { Level } from './policy.js'

const identity = identityOf('kubernetes')
const secure = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
}

/** A pod without a fault but for what is given. */
const specOf = (context: object, spec: object = {}): PodSpec =>
  ({ containers: [{ name: 'a', securityContext: { ...secure, ...context } }], ...spec }) as PodSpec

const found = (level: Level, version: string, spec: PodSpec, annotations: { readonly [name: string]: string } = {}): string =>
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

for (const [name, spec, wanted] of baseline) test(`baseline: ${name}`, () => assert.equal(found('baseline', 'latest', spec), wanted))

test('baseline: annotations of AppArmor', () => {
  const annotations = {
    'container.apparmor.security.beta.kubernetes.io/a': 'unconfined',
    'container.apparmor.security.beta.kubernetes.io/b': 'localhost/x',
  }
  assert.equal(
    found('baseline', 'latest', specOf({}), annotations),
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
    'non-root',
    specOf({ runAsNonRoot: undefined }),
    'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)',
  ],
  [
    'non-root, said to be root',
    specOf({ runAsNonRoot: false }),
    'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)',
  ],
  ['user', specOf({ runAsUser: 0 }), 'runAsUser=0 (container "a" must not set runAsUser=0)'],
  [
    'seccomp',
    specOf({ seccompProfile: undefined }),
    'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
]

for (const [name, spec, wanted] of restricted) test(`restricted: ${name}`, () => assert.equal(found('restricted', 'latest', spec), wanted))

const versions: readonly [string, PodSpec, number][] = [
  ['escalation', specOf({ allowPrivilegeEscalation: true }), 8],
  ['capabilities', specOf({ capabilities: {} }), 22],
  ['user', specOf({ runAsUser: 0 }), 23],
  ['seccomp', specOf({ seccompProfile: undefined }), 19],
]

for (const [name, spec, since] of versions) {
  test(`restricted: ${name} is checked since 1.${since}`, () => {
    assert.equal(found('restricted', `v1.${since - 1}`, spec), '')
    assert.notEqual(found('restricted', `v1.${since}`, spec), '')
  })
}

test('restricted: pods for Windows need no escalation, capabilities and seccomp since 1.25', () => {
  const spec = { containers: [{ name: 'a', securityContext: { runAsNonRoot: true } }], os: { name: 'windows' } } as PodSpec
  assert.equal(found('restricted', 'v1.25', spec), '')
  assert.match(found('restricted', 'v1.24', spec), /allowPrivilegeEscalation.*unrestricted capabilities.*seccompProfile/)
})

test('before 1.19 annotations of seccomp count, and fields do not', () => {
  const annotations = { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' }
  const spec = specOf({ seccompProfile: { type: 'Unconfined' } })
  assert.equal(
    found('baseline', 'v1.18', spec, annotations),
    'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
  )
  assert.match(found('baseline', 'v1.19', specOf({ seccompProfile: { type: 'Unconfined' } }), annotations), /container "a" must not set/)
})

test('every sort of container is looked at, and privileged allows all', () => {
  const bad = (name: string) => ({ name, securityContext: { ...secure, privileged: true } })
  const spec = { initContainers: [bad('i')], containers: [bad('a')], ephemeralContainers: [bad('e')] } as PodSpec
  assert.equal(found('baseline', 'v1.99', spec), 'privileged (containers "i", "a", "e" must not set securityContext.privileged=true)')
  assert.equal(found('privileged', 'latest', spec), '')
})
