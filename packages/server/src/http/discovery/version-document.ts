// Which release of the API this is, as `/version` tells it.

import { arch, platform } from 'node:process'
import { buildInfo } from './build-info.js'
import type { Document } from './discovery.js'

const major = '1'
const minor = '26'

export const versionDocument = (): Document => ({
  major,
  minor,
  gitVersion: `v${major}.${minor}.8`,
  gitCommit: buildInfo.commit,
  gitTreeState: buildInfo.treeState,
  buildDate: buildInfo.date,
  goVersion: `node${process.versions.node}`,
  compiler: 'v8',
  platform: `${platform}/${arch === 'x64' ? 'amd64' : arch}`,
})
