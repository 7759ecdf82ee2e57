// Containers of all three sorts: names, images, ports, probes, variables and mounts.

import { test } from 'node:test'
import type { Container, PodSpec } from '../v1.schema.js'
import { assertFound, container, contextWith, type Row, specErrors } from './pod-spec.fixture.js'

const c = 'spec.containers[0]'

const containerRows: readonly Row<Container>[] = [
  { title: 'nothing more', given: {}, found: [] },
  { title: 'a name that is no label', given: { name: 'A_b' }, found: [`${c}.name: Invalid value: "A_b": a lowercase RFC 1123 label`] },
  {
    title: 'unknown policies',
    given: { imagePullPolicy: 'Maybe', terminationMessagePolicy: 'Shout' },
    found: [
      `${c}.terminationMessagePolicy: Unsupported value: "Shout": supported values: "File", "FallbackToLogsOnError"`,
      `${c}.imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"`,
    ],
  },
  {
    title: 'wrong ports',
    given: {
      ports: [
        { containerPort: 0 },
        { containerPort: 70000, name: 'Too_Long_Port_Name' },
        { containerPort: 1, protocol: 'ICMP', hostPort: -1 },
        { containerPort: 1, hostPort: 9, name: 'a' },
        { containerPort: 2, hostPort: 9, name: 'a' },
        { containerPort: 2, hostPort: 9, hostIP: '10.0.0.1' },
      ],
    },
    found: [
      `${c}.ports[0].containerPort: Required value`,
      `${c}.ports[1].name: Invalid value: "Too_Long_Port_Name": must be no more than 15 characters`,
      `${c}.ports[1].name: Invalid value: "Too_Long_Port_Name": must contain only alpha-numeric`,
      `${c}.ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`,
      `${c}.ports[2].hostPort: Invalid value: -1`,
      `${c}.ports[2].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`,
      `${c}.ports[4].name: Duplicate value: "a"`,
      `${c}.ports[4].hostPort: Duplicate value: "TCP//9"`,
    ],
  },
  {
    title: 'wrong probes',
    given: {
      livenessProbe: { successThreshold: 2, periodSeconds: -1, tcpSocket: { port: 0 } },
      readinessProbe: { exec: {}, httpGet: { port: 1 }, terminationGracePeriodSeconds: 5 },
      startupProbe: { grpc: { port: 70000 }, terminationGracePeriodSeconds: 0 },
      lifecycle: { postStart: {}, preStop: { httpGet: { port: 'no port!', scheme: 'FTP', httpHeaders: [{ name: 'a b' }] } } },
    },
    found: [
      `${c}.lifecycle.postStart: Required value: must specify a handler type`,
      `${c}.lifecycle.preStop.httpGet.port: Invalid value: "no port!": must contain only`,
      `${c}.lifecycle.preStop.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"`,
      `${c}.lifecycle.preStop.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header`,
      `${c}.livenessProbe.tcpSocket.port: Invalid value: 0`,
      `${c}.livenessProbe.periodSeconds: Invalid value: -1`,
      `${c}.livenessProbe.successThreshold: Invalid value: 2: must be 1`,
      `${c}.readinessProbe.exec.command: Required value`,
      `${c}.readinessProbe.httpGet: Forbidden: may not specify more than 1 handler type`,
      `${c}.readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes`,
      `${c}.startupProbe.grpc.port: Invalid value: 70000`,
      `${c}.startupProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`,
    ],
  },
  {
    title: 'wrong variables',
    given: {
      env: [
        { name: '1=2' },
        { name: '..x' },
        { name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'B', valueFrom: {} },
        { name: 'C', valueFrom: { fieldRef: { fieldPath: 'spec.containers' } } },
        { name: 'D', valueFrom: { secretKeyRef: { name: 'x' }, configMapKeyRef: { name: 'x', key: '..' } } },
        { name: 'E', valueFrom: { fieldRef: { fieldPath: 'status.phase' } } },
        { name: 'F', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } },
        { name: 'G', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1k' } } },
        { name: 'H', valueFrom: { resourceFieldRef: { resource: 'limits.magic' } } },
        {},
      ],
      envFrom: [{ prefix: '1', configMapRef: { name: 'x' }, secretRef: {} }, {}],
    },
    found: [
      `${c}.env[0].name: Invalid value: "1=2": a valid environment variable name`,
      `${c}.env[1].name: Invalid value: "..x": must not start with '..'`,
      `${c}.env[2].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`,
      `${c}.env[3].valueFrom: Invalid value: "": must specify one of: `,
      `${c}.env[4].valueFrom.fieldRef.fieldPath: Invalid value: "spec.containers": error converting fieldPath: field label not supported`,
      `${c}.env[5].valueFrom.configMapKeyRef.key: Invalid value: "..": must not be '..'`,
      `${c}.env[5].valueFrom.secretKeyRef.key: Required value`,
      `${c}.env[5].valueFrom: Invalid value: "": may not have more than one field specified at a time`,
      `${c}.env[6].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name"`,
      `${c}.env[7].valueFrom.fieldRef: Invalid value: "a b": name part must consist`,
      `${c}.env[8].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1`,
      `${c}.env[9].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.magic"`,
      `${c}.env[10].name: Required value`,
      `${c}.envFrom[0].prefix: Invalid value: "1"`,
      `${c}.envFrom[0].secretRef.name: Required value`,
      `${c}.envFrom: Invalid value: "": may not have more than one field specified at a time`,
      `${c}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``,
    ],
  },
]

for (const { title, given, found } of containerRows) {
  test(`a container with ${title}`, () => assertFound(specErrors({ containers: [container(given)] }), found))
}

const mounts = `${c}.volumeMounts`
const podRows: readonly Row<PodSpec>[] = [
  { title: 'no containers', given: { containers: [] }, found: ['spec.containers: Required value'] },
  {
    title: 'containers without name or image',
    given: { containers: [{}, container(), container()] },
    found: [`${c}.name: Required value`, `${c}.image: Required value`, 'spec.containers[2].name: Duplicate value: "c"'],
  },
  {
    title: 'wrong mounts',
    given: {
      volumes: [{ name: 'v' }],
      containers: [
        container({
          volumeMounts: [
            { name: 'gone', mountPath: '/a' },
            { name: 'v', mountPath: '/a' },
            { name: 'v', subPath: '../x', subPathExpr: '/y' },
            { name: 'v', mountPath: '/b', mountPropagation: 'Bidirectional' },
            { name: 'v', mountPath: '/c', mountPropagation: 'Sideways' },
          ],
        }),
      ],
    },
    found: [
      `${mounts}[0].name: Not found: "gone"`,
      `${mounts}[1].mountPath: Invalid value: "/a": must be unique`,
      `${mounts}[2].mountPath: Required value`,
      `${mounts}.subPath: Invalid value: "../x": must not contain '..'`,
      `${mounts}[2].subPathExpr: Invalid value: "/y": subPathExpr and subPath are mutually exclusive`,
      `${mounts}.subPathExpr: Invalid value: "/y": must be a relative path`,
      `${mounts}.mountPropagation: Forbidden: Bidirectional mount propagation`,
      `${mounts}.mountPropagation: Unsupported value: "Sideways": supported values: "Bidirectional", "HostToContainer", "None"`,
    ],
  },
  {
    title: 'wrong devices',
    given: {
      volumes: [{ name: 'v' }, { name: 'd', persistentVolumeClaim: { claimName: 'x' } }],
      containers: [
        container({
          volumeMounts: [{ name: 'd', mountPath: '/d' }],
          volumeDevices: [
            { name: 'v', devicePath: '/v' },
            { name: 'd', devicePath: '/d' },
            { name: 'gone', devicePath: '/x/../y' },
          ],
        }),
      ],
    },
    found: [
      `${mounts}[0].name: Invalid value: "d": must not already exist in volumeDevices`,
      `${mounts}[0].mountPath: Invalid value: "/d": must not already exist as a path in volumeDevices`,
      `${c}.volumeDevices[0].name: Invalid value: "v": can only use volume source type`,
      `${c}.volumeDevices[1].name: Invalid value: "d": must not already exist in volumeMounts`,
      `${c}.volumeDevices[1].devicePath: Invalid value: "/d": must not already exist as a path in volumeMounts`,
      `${c}.volumeDevices[2].name: Not found: "gone"`,
      `${c}.volumeDevices[2].devicePath: Invalid value: "/x/../y": can not contain backsteps`,
    ],
  },
  {
    title: 'an init container that is probed and has a name twice',
    given: { initContainers: [container({ livenessProbe: { exec: { command: ['x'] } }, lifecycle: {} })] },
    found: [
      'spec.initContainers[0].name: Duplicate value: "c"',
      'spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers',
      'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers',
    ],
  },
  {
    title: 'an ephemeral container that is more than that',
    given: {
      volumes: [{ name: 'v' }],
      ephemeralContainers: [
        {
          name: 'c',
          image: ' i',
          targetContainerName: 'gone',
          ports: [{ containerPort: 1 }],
          resources: { limits: { cpu: '1' } },
          lifecycle: {},
          volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'x' }],
        },
      ],
    },
    found: [
      'spec.ephemeralContainers[0].image: Invalid value: " i": must not have leading or trailing whitespace',
      'spec.ephemeralContainers[0].name: Duplicate value: "c"',
      'spec.ephemeralContainers[0].targetContainerName: Not found: "gone"',
      'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
      'spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container',
      'spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral Container',
      'spec.ephemeralContainers[0].volumeMounts[0].subPath: Forbidden: cannot be set for an Ephemeral Container',
    ],
  },
]

for (const { title, given, found } of podRows) test(`a pod with ${title}`, () => assertFound(specErrors(given), found))

test('huge pages can be asked for only where the feature is there', () => {
  const env = [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.hugepages-2Mi' } } }]
  assertFound(specErrors({ containers: [container({ env })] }), [])
  assertFound(specErrors({ containers: [container({ env })] }, contextWith({ gates: () => false })), [
    `${c}.env[0].valueFrom.resourceFieldRef.resource: Unsupported value`,
  ])
})
