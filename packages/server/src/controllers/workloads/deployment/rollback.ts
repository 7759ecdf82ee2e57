// Rollback of a Deployment that a client requested by annotation, as the former rollback subresource did.

import { withMetadata } from '@cluster-apiserver/api/api/object.js'
import type { Deployment, ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Outcome } from '../../framework/work-queue.js'
import { hasTemplate, lastRevision, revisionOf, rollbackAnnotation, templateWithoutHash, withAnnotationsOf } from './replica-sets.js'
import { allOf, type Context, createReplicaSet, type Rollout } from './rollout.js'

/** Revision 0 is the one before the current one. */
export async function rollBack(context: Context, found: Rollout, wanted: number): Promise<Outcome> {
  const { identity } = context.parts.engine
  const rollout = found.current === undefined ? await createReplicaSet(context, found) : found
  const { deployment } = rollout
  const all = allOf(rollout)
  const revision = wanted === 0 ? lastRevision(identity, all) : wanted
  if (revision === 0) {
    await warn(context, deployment, 'DeploymentRollbackRevisionNotFound', 'Unable to find last revision.')
    return clearAnnotation(context, deployment)
  }
  const target = all.find((each) => revisionOf(identity, each) === revision)
  if (target === undefined) {
    await warn(context, deployment, 'DeploymentRollbackRevisionNotFound', 'Unable to find the revision to rollback to.')
    return clearAnnotation(context, deployment)
  }
  if (hasTemplate(target, deployment)) {
    const message = `The rollback revision contains the same template as current deployment ${JSON.stringify(deployment.metadata?.name)}`
    await warn(context, deployment, 'DeploymentRollbackTemplateUnchanged', message)
    return clearAnnotation(context, deployment)
  }
  await clearAnnotation(context, restored(context, deployment, target))
  const message = `Rolled back deployment ${JSON.stringify(deployment.metadata?.name)} to revision ${revision}`
  await context.writer.event(context.deployments, deployment, { type: 'Normal', reason: 'DeploymentRollback', message })
  return undefined
}

function restored({ parts }: Context, deployment: Deployment, target: ReplicaSet): Deployment {
  const template = templateWithoutHash(target.spec?.template)
  return withAnnotationsOf(parts.engine.identity, { ...deployment, spec: { ...deployment.spec, template } } as Deployment, target)
}

const warn = ({ writer, deployments }: Context, deployment: Deployment, reason: string, message: string): Promise<void> =>
  writer.event(deployments, deployment, { type: 'Warning', reason, message })

async function clearAnnotation({ writer, deployments }: Context, deployment: Deployment): Promise<undefined> {
  const { [rollbackAnnotation]: _, ...annotations } = deployment.metadata?.annotations ?? {}
  await writer.update(deployments, withMetadata(deployment, { annotations }))
  return undefined
}
