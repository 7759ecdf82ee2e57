// Lets nodes take pods again.

import { cordonCommand } from '../cordoning.js'

export const command = cordonCommand({ command: 'uncordon', about: 'let nodes take pods again', isUnschedulable: false })
