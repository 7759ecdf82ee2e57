// The loops that keep the server true to its own objects, each under the name by which `--controllers` knows it.

import { customApiServices } from '../controllers/aggregation/register-custom.js'
import { deleteElsewhere } from '../controllers/aggregation/remote-contents.js'
import { certificateApproval } from '../controllers/certificates/approve-requests.js'
import { certificateCleaner } from '../controllers/certificates/clean-requests.js'
import { clusterInfoSigner } from '../controllers/cluster-info-signer.js'
import { clusterRoleAggregation } from '../controllers/cluster-role-aggregation.js'
import { customResourceDefinitions } from '../controllers/custom-resources/definition-status.js'
import { defaultAccounts } from '../controllers/default-accounts.js'
import { disruptionBudgets } from '../controllers/disruption/disruption.js'
import { expiredLeases } from '../controllers/expired-leases.js'
import { finishedJobs } from '../controllers/finished-jobs.js'
import { flowSchemaStatus } from '../controllers/flow-schema-status.js'
import type { Extensions } from '../controllers/garbage-collection/elsewhere/remote-objects.js'
import { garbageCollection } from '../controllers/garbage-collection/garbage-collection.js'
import type { LoopParts } from '../controllers/kit/loop.js'
import type { Loop } from '../controllers/leader-election.js'
import { namespaceDeletion } from '../controllers/namespace-deletion.js'
import { claimProtection } from '../controllers/protection/claim-protection.js'
import { volumeProtection } from '../controllers/protection/volume-protection.js'
import { quotaStatus } from '../controllers/resource-quota.js'
import { rootCaMaps } from '../controllers/root-ca.js'
import { tokenCleaner } from '../controllers/token-cleaner.js'
import { tokenSecrets } from '../controllers/token-secrets.js'
import type { Loops } from './run-loops.js'

export interface LoopNeeds {
  readonly extensions: Extensions
  /** Whether other servers answer. */
  readonly availability: (parts: LoopParts) => Loop
  readonly rootCa: Parameters<typeof rootCaMaps>[0]
  readonly signing: (parts: LoopParts) => Loop
  /** Whether several servers use the store. */
  readonly isShared?: boolean
}

export function nameLoops({ extensions, availability, rootCa, signing, isShared }: LoopNeeds): Loops {
  const elsewhere = deleteElsewhere(extensions.services, extensions.asker)
  return {
    garbagecollector: (loopParts) => garbageCollection(loopParts, undefined, extensions),
    namespace: (loopParts) => namespaceDeletion(loopParts, undefined, elsewhere, isShared),
    serviceaccount: defaultAccounts,
    'root-ca-cert-publisher': rootCaMaps(rootCa),
    'flow-schema-status': flowSchemaStatus,
    'clusterrole-aggregation': clusterRoleAggregation,
    'serviceaccount-token': tokenSecrets(rootCa),
    csrsigning: signing,
    tokencleaner: tokenCleaner,
    bootstrapsigner: clusterInfoSigner,
    resourcequota: quotaStatus,
    'ttl-after-finished': finishedJobs,
    disruption: disruptionBudgets,
    'pvc-protection': claimProtection,
    'pv-protection': volumeProtection,
    csrapproving: certificateApproval,
    csrcleaner: certificateCleaner,
    'identity-lease-garbage-collector': expiredLeases,
    'custom-resource-definitions': customResourceDefinitions,
    'apiservice-registration': customApiServices,
    'apiservice-status-available': availability,
  }
}
