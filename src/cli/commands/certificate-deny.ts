// Denies requests for certificates.

import { approval } from '../approval.js'

export const command = approval('deny')
