// Files that the primary generates at its start. A worker that generated them again would have another CA and other tokens than the others.

import { existsSync } from 'node:fs'
import type { Settings } from '../../options/settings.js'
import { StartupError } from '../../options/startup-error.js'
import { adminTokenFile } from '../admin-kubeconfig.js'
import { generatedKeyFile } from '../certificates/service-account-keys.js'
import { generatedCertificateFiles } from '../certificates/serving-certificate.js'

export function checkGeneratedFiles(settings: Settings): void {
  const { dataDir, authentication } = settings
  if (dataDir === undefined) return
  const keys = authentication.serviceAccounts.signingKey === undefined ? [generatedKeyFile(dataDir)] : []
  const missing = [adminTokenFile(dataDir), ...generatedCertificateFiles(settings), ...keys].find((path) => !existsSync(path))
  if (missing !== undefined) throw new StartupError(`${missing} is missing: restore it, or restart the server to generate another`)
}
