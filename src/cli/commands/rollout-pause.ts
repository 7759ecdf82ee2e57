// Pauses the rollout of a deployment.

import { pausing } from '../pausing.js'

export const command = pausing('pause')
