// Tests of pod volumes: unique names, one source each, validation of each source.

import { test } from 'node:test'
import { identityOf } from '../../../api/identity.js'
import { expectErrors, rowTitle } from '../../expect-errors.fixture.js'
import type { Volume } from '../v1.schema.js'
import { contextWith, type Row, specErrors } from './pod-spec.fixture.js'

const volumePath = 'spec.volumes[0]'
const singleVolume = (given: Volume, ...expected: readonly string[]): Row<readonly Volume[]> => [
  [{ name: 'v', ...given }],
  ...expected.map((line) => `${volumePath}${line}`),
]

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

const rows: readonly Row<readonly Volume[]>[] = [
  [
    [{ name: 'two' }, { name: 'two' }, { name: 'Bad' }, {}],
    'spec.volumes[1].name: Duplicate value: "two"',
    'spec.volumes[2].name: Invalid value: "Bad"',
    'spec.volumes[3].name: Required value',
  ],
  singleVolume({ hostPath: { path: '/' }, emptyDir: {} }, '.hostPath: Forbidden: may not specify more than 1 volume type'),
  singleVolume({ secret: { secretName: 's' }, downwardAPI: {} }, '.downwarAPI: Forbidden'),
  singleVolume({ emptyDir: { sizeLimit: '-1' } }, '.emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity'),
  singleVolume(
    { hostPath: { path: '/a/../b', type: 'Thing' } },
    '.hostPath.path: Invalid value: "/a/../b": must not contain \'..\'',
    '.hostPath.type: Unsupported value: "Thing"',
  ),
  singleVolume({ hostPath: {} }, '.hostPath.path: Required value'),
  singleVolume(
    { secret: { defaultMode: 0o1000, items: [{ path: '..x', mode: -1 }] } },
    '.secret.secretName: Required value',
    '.secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal)',
    '.secret.items[0].key: Required value',
    '.secret.items[0].path: Invalid value: "..x": must not start with \'..\'',
    '.secret.items[0].mode: Invalid value: -1',
  ),
  singleVolume({ configMap: {} }, '.configMap.name: Required value'),
  singleVolume(
    {
      downwardAPI: {
        items: [
          { fieldRef: { fieldPath: 'spec.nodeName' }, resourceFieldRef: { resource: 'limits.cpu' } },
          { path: '/a', resourceFieldRef: {} },
          { path: 'a' },
        ],
      },
    },
    '.downwardAPI.path: Required value',
    '.downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName"',
    '.downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously',
    '.downwardAPI.path: Invalid value: "/a": must be a relative path',
    '.downwardAPI.resourceFieldRef.containerName: Required value',
    '.downwardAPI: Required value: one of fieldRef and resourceFieldRef is required',
  ),
  singleVolume(
    {
      projected: {
        sources: [
          { secret: { name: 's', items: [{ key: 'k', path: 'a' }] }, configMap: { items: [{ key: 'k', path: 'a' }] } },
          { serviceAccountToken: { expirationSeconds: 10 } },
          { serviceAccountToken: { path: 't', expirationSeconds: 2 ** 33 } },
        ],
      },
    },
    '.projected.sources[0].configMap.name: Required value',
    '.projected: Invalid value: "": conflicting duplicate paths',
    '.projected.sources[0]: Forbidden: may not specify more than 1 volume type',
    '.projected.sources[1].serviceAccountToken.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
    '.projected.path: Required value',
    '.projected.sources[2].serviceAccountToken.expirationSeconds: Invalid value: 8589934592: may not specify a duration larger',
  ),
  singleVolume({ ephemeral: {} }, '.ephemeral.volumeClaimTemplate: Required value'),
  singleVolume(
    {
      ephemeral: {
        volumeClaimTemplate: { metadata: { name: 'x' }, spec: { volumeMode: 'Tape', resources: { requests: { storage: '0' } } } },
      },
    },
    '.ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set',
    '.ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required',
    '.ephemeral.volumeClaimTemplate.spec.resources[storage]: Invalid value: "0": must be greater than zero',
    '.ephemeral.volumeClaimTemplate.spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"',
  ),
  [
    [
      { name: 'e', ephemeral: { volumeClaimTemplate: { spec: claim } } },
      { name: 'c', persistentVolumeClaim: { claimName: 'p-e' } },
    ],
    'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "p-e": must not reference a PVC that gets created',
  ],
  singleVolume({ nfs: { server: 's', path: 'x' } }, '.nfs.path: Invalid value: "x": must be an absolute path'),
  singleVolume(
    { gcePersistentDisk: { pdName: 'x', partition: 256 } },
    '.persistentDisk.partition: Invalid value: 256: must be between 1 and 255',
  ),
  singleVolume({ awsElasticBlockStore: {} }, '.awsElasticBlockStore.volumeID: Required value'),
  singleVolume(
    { iscsi: { iqn: 'abc', lun: 256, chapAuthSession: true, initiatorName: 'iqn.bad' } },
    '.iscsi.targetPortal: Required value',
    '.iscsi.iqn: Invalid value: "abc": must be valid format starting with iqn, eui, or naa',
    '.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
    '.iscsi.secretRef: Required value',
    '.iscsi.initiatorname: Invalid value: "iqn.bad": must be valid format',
  ),
  singleVolume({ fc: {} }, '.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both'),
  singleVolume(
    { fc: { targetWWNs: ['a'], wwids: ['b'] } },
    '.fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids',
    '.fc.lun: Required value',
  ),
  singleVolume(
    { quobyte: { registry: 'a:1,b' } },
    '.quobyte.registry: Invalid value: "a:1,b": must be a host:port pair',
    '.quobyte.volume: Required value',
  ),
  singleVolume(
    { azureDisk: { diskName: 'd', diskURI: 'https://x', kind: 'Managed', cachingMode: 'Some' } },
    '.azureDisk.cachingMode: Unsupported value: "Some"',
    '.azureDisk.diskURI: Unsupported value: "https://x": supported values: "/subscriptions/',
  ),
  singleVolume(
    { flocker: { datasetName: 'a/b', datasetUUID: 'u' } },
    '.flocker: Invalid value: "resource": datasetName and datasetUUID',
    '.flocker.datasetName: Invalid value: "a/b": must not contain \'/\'',
  ),
  singleVolume(
    { csi: { driver: 'a b', nodePublishSecretRef: {} } },
    '.csi.driver: Invalid value: "a b": a lowercase RFC 1123 subdomain',
    '.csi.nodePublishSecretRef.name: Required value',
  ),
  singleVolume(
    { storageos: { volumeNamespace: 'A' } },
    '.storageos.volumeName: Required value',
    '.storageos.volumeNamespace: Invalid value: "A"',
  ),
  singleVolume({ cephfs: {} }, '.cephfs.monitors: Required value'),
]

for (const [given, ...expected] of rows)
  test(`volumes: ${rowTitle(given, expected)}`, () => expectErrors(specErrors({ volumes: given }), expected))

test('flexVolume options in the domains of the system are rejected, under both identities', () => {
  const volumes = [{ name: 'v', flexVolume: { driver: 'd/d', options: { 'x.kubernetes.io/y': '', 'cluster.io/y': '' } } }]
  expectErrors(specErrors({ volumes }, contextWith({ identity: identityOf('kubernetes') })), [
    `${volumePath}.flexVolume.options[x.kubernetes.io/y]: Invalid value: "x.kubernetes.io/y": kubernetes.io and k8s.io namespaces are reserved`,
  ])
  expectErrors(specErrors({ volumes }), [`${volumePath}.flexVolume.options[cluster.io/y]: Invalid value: "cluster.io/y": cluster.io and`])
})
