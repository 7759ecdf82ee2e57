// Writes docs/flags.md from what `cluster-apiserver --help` says; a test fails when the two differ.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const help = execFileSync(process.execPath, [`${root}bin/cluster-apiserver`, '--help'], { encoding: 'utf8' })

writeFileSync(
  `${root}docs/flags.md`,
  `# Flags

Written by \`npm run docs\` from \`cluster-apiserver --help\`. Names and meanings are those of the reference where it has the flag.
Those that are used most: \`--data-dir\`, \`--secure-port\`, \`--bind-address\`, \`--identity\`, \`--token-auth-file\`, \`--storage-backend\`.

\`\`\`text
${help.trimEnd()}
\`\`\`

A flag that is wrong ends the start with one sentence that names it, and exit code 1. Flags that have no effect are named at start.
`,
)
