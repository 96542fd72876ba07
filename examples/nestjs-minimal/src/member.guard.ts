import type { IncomingMessage } from 'node:http'
import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common'

/** Runs for every request, also while the entry is fresh. */
@Injectable()
export class MemberGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<IncomingMessage>()
    if (headers['x-member-key'] !== 'gate-7') throw new UnauthorizedException()
    return true
  }
}
