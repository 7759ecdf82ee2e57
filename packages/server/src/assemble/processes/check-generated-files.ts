// Files that the primary generates at its start. A worker that generated them again would have another CA and other tokens than the others.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../../options/settings.js'
import { StartupError } from '../../options/startup-error.js'
import { adminTokenFile } from '../admin-kubeconfig.js'
import { generatedKeyFile } from '../certificates/service-account-keys.js'
import { caFile, pkiFolder } from '../certificates/serving-certificate.js'

export function checkGeneratedFiles({ dataDir, serving: { certDir }, authentication }: Settings): void {
  if (dataDir === undefined) return
  const folder = certDir ?? pkiFolder(dataDir)
  const keys = authentication.serviceAccounts.signingKey === undefined ? [generatedKeyFile(dataDir)] : []
  const missing = [adminTokenFile(dataDir), caFile(folder), join(folder, 'ca.key'), ...keys].find((path) => !existsSync(path))
  if (missing !== undefined) throw new StartupError(`${missing} is missing: restore it, or restart the server to generate another`)
}
