// Provisioning of claims: by the built-in provisioner, or by an external one that the claim's annotations name.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Node, NodeSelector, PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { StorageClass } from '@cluster-apiserver/api/resources/storage/v1.schema.js'
import { readObject } from '../kit/workload-parts.js'
import { annotated, claimReference, type VolumeContext } from './bind-volume.js'
import { builtInProvisioner, findClass } from './storage-classes.js'
import { annotationKey, annotationOf, classNameOf } from './volume-annotations.js'

/** CSI drivers of provisioners that moved out of kube-controller-manager. */
const movedProvisioners: { readonly [stem: string]: string } = {
  'aws-ebs': 'ebs.csi.aws.com',
  'azure-disk': 'disk.csi.azure.com',
  'azure-file': 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  'gce-pd': 'pd.csi.storage.gke.io',
  'vsphere-volume': 'csi.vsphere.vmware.com',
}

/** In-tree plugins of kube-controller-manager that provision nothing. */
const pluginsWithoutProvisioner: readonly string[] = ['nfs', 'local-volume', 'csi']
const disabledProvisioner = 'host-path'

/** Creates the volume of a claim; the event of the volume queues the claim, which then binds it. */
export async function provision(context: VolumeContext, claim: PersistentVolumeClaim): Promise<void> {
  const { parts, writer, resources } = context
  const { identity } = parts.engine
  const failed = (message: string, of = claim): Promise<void> =>
    writer.event(resources.claims, of, { type: 'Warning', reason: 'ProvisioningFailed', message })
  const className = classNameOf(identity, claim)
  const storageClass = findClass(parts, resources.classes, className)
  if (storageClass === undefined) return failed(`storageclass.${resources.classes.group} "${className}" not found`)
  const { provisioner = '' } = storageClass
  const inTree = identity.label('')
  const name = provisioner.startsWith(inTree) ? movedProvisioners[provisioner.slice(inTree.length)] : provisioner
  if (name === undefined) {
    const stem = provisioner.slice(inTree.length)
    if (stem === disabledProvisioner) {
      const provisioned = await setProvisioner(context, claim, provisioner)
      return failed(`Failed to create provisioner: provisioning in volume plugin "${provisioner}" is disabled`, provisioned)
    }
    return failed(
      pluginsWithoutProvisioner.includes(stem) ? 'no provisionable volume plugin matched' : `no volume plugin matched name: ${provisioner}`,
    )
  }
  const annotatedClaim = await setProvisioner(context, claim, name)
  if (name === builtInProvisioner) return createVolume(context, annotatedClaim, storageClass)
  await writer.event(resources.claims, claim, {
    type: 'Normal',
    reason: 'ExternalProvisioning',
    message: `waiting for a volume to be created, either by external provisioner "${name}" or manually created by system administrator`,
  })
}

async function setProvisioner({ parts, writer, resources }: VolumeContext, claim: PersistentVolumeClaim, name: string) {
  const { identity } = parts.engine
  const annotations = Object.fromEntries((['provisioner', 'betaProvisioner'] as const).map((it) => [annotationKey(identity, it), name]))
  const metadata = annotated(claim, annotations)
  if (sameValue(metadata?.annotations, claim.metadata?.annotations)) return claim
  return writer.update(resources.claims, { ...claim, metadata } as PersistentVolumeClaim)
}

async function createVolume(context: VolumeContext, claim: PersistentVolumeClaim, storageClass: StorageClass): Promise<void> {
  const { parts, writer, resources } = context
  const name = `pvc-${claim.metadata?.uid}`
  if (readObject(parts, { resource: resources.volumes, namespace: '', name }) !== undefined) return
  const nodeName = annotationOf(parts.engine.identity, claim, 'selectedNode')
  const node = nodeName === undefined ? undefined : readObject<Node>(parts, { resource: resources.nodes, namespace: '', name: nodeName })
  const fail = (message: string): Promise<void> =>
    writer.event(resources.claims, claim, { type: 'Warning', reason: 'ProvisioningFailed', message })
  if (nodeName !== undefined && node === undefined) return fail(`Failed to get target node: node "${nodeName}" not found`)
  try {
    await writer.create(resources.volumes, newVolume(context, { name, claim, storageClass, node }))
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status.code === 409) return
    await fail(`Failed to provision volume with StorageClass "${storageClass.metadata?.name}": ${errorMessage(thrown)}`)
    throw thrown
  }
  await writer.event(resources.claims, claim, {
    type: 'Normal',
    reason: 'ProvisioningSucceeded',
    message: `Successfully provisioned volume ${name} using ${builtInProvisioner}`,
  })
}

interface NewVolume {
  readonly name: string
  readonly claim: PersistentVolumeClaim
  readonly storageClass: StorageClass
  /** The node of the first consumer: the volume is local to it. */
  readonly node: Node | undefined
}

function newVolume({ parts, resources }: VolumeContext, { name, claim, storageClass, node }: NewVolume): PersistentVolume {
  const { identity } = parts.engine
  const path = `/var/lib/cluster-apiserver/volumes/${name}`
  const { accessModes, volumeMode, resources: amounts } = claim.spec ?? {}
  return {
    metadata: {
      name,
      annotations: {
        [annotationKey(identity, 'boundByController')]: 'yes',
        [annotationKey(identity, 'provisionedBy')]: builtInProvisioner,
      },
    },
    spec: {
      accessModes,
      capacity: { storage: amounts?.requests?.['storage'] },
      claimRef: claimReference(resources, claim),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata?.name,
      ...(volumeMode === undefined ? {} : { volumeMode }),
      ...(storageClass.mountOptions === undefined ? {} : { mountOptions: storageClass.mountOptions }),
      ...(node === undefined
        ? { hostPath: { path } }
        : { local: { path }, nodeAffinity: { required: onlyOn(node, identity.label('hostname')) } }),
    },
  } as PersistentVolume
}

const onlyOn = ({ metadata }: Node, key: string): NodeSelector => {
  const host = metadata?.labels?.[key]
  const requirement = { operator: 'In', values: [host ?? metadata?.name ?? ''] }
  return {
    nodeSelectorTerms: [
      host === undefined ? { matchFields: [{ key: 'metadata.name', ...requirement }] } : { matchExpressions: [{ key, ...requirement }] },
    ],
  } as NodeSelector
}
