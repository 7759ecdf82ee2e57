// Lets nodes take no more pods.

import { cordonCommand } from '../cordoning.js'

export const command = cordonCommand({ command: 'cordon', about: 'let nodes take no more pods', isUnschedulable: true })
