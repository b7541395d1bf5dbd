import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import fs from 'node:fs'
let n=0, dirs=0, errs=[]
const dir = process.argv[2]
class FF extends NodeFS { async init(pg,o){ const r=await super.init(pg,o); r.emscriptenOpts.preRun.push(m=>{const N=m.FS.filesystems.NODEFS; N.stream_ops.fsync=s=>{ if(s.nfd===undefined){dirs++; const p=N.realPath(s.node); try{const fd=fs.openSync(p,'r'); fs.fsyncSync(fd); fs.closeSync(fd)}catch(e){errs.push(e)} return 0} n++; fs.fsyncSync(s.nfd); return 0 }}); return r } 
 async syncToFs(){ if(!this.seen){this.seen=1;console.log('first syncToFs', fs.readdirSync(this.rootDir).length)} } }
let t=performance.now()
const db = await PGlite.create({ fs:new FF(dir), startParams:[...PGlite.defaultStartParams.filter(a=>a!=='-F'),'-c','fsync=on','-c','wal_sync_method=fsync','-c','jit=off'], onStderr:t=>{if(globalThis.q!==t.slice(40))console.log('STDERR',t.slice(0,200));globalThis.q=t.slice(40);return false} })
console.log('boot', performance.now()-t, {n,dirs}, errs.slice(0,2))
console.log((await db.query("select version(), current_setting('shared_buffers') sb, current_setting('wal_buffers') wb, current_setting('max_wal_size') mw, current_setting('synchronous_commit') sc, current_setting('full_page_writes') f, current_setting('data_sync_retry') d, current_setting('wal_level') wl, current_setting('jit') j, current_setting('track_counts') tc, current_setting('wal_init_zero') z, current_setting('recovery_init_sync_method') r")).rows[0])
const enc=new TextEncoder()
function msg(t,s){const b=enc.encode(s);const u=new Uint8Array(5+b.length+1);u[0]=t.charCodeAt(0);new DataView(u.buffer).setInt32(1,5+b.length);u.set(b,5);return u}
function show(label,chunks){const b=Buffer.concat(chunks.map(c=>Buffer.from(c)));let o=0,out=[];while(o<b.length){const l=b.readInt32BE(o+1);out.push(String.fromCharCode(b[o])+JSON.stringify(b.subarray(o+5,o+1+l).toString('latin1').slice(0,90)));o+=1+l}console.log(label,out.join('\n   '))}
async function raw(label,...ms){const m=Buffer.concat(ms);const c=[];try{await db.execProtocolRawStream(m,{syncToFs:false,onRawData:b=>{c.push(b.slice())}})}catch(e){console.log('THROW',e)}show(label,c)}
const su=(()=>{const p=enc.encode('user\0postgres\0database\0postgres\0\0');const u=Buffer.alloc(8+p.length);u.writeInt32BE(u.length,0);u.writeInt32BE(196608,4);u.set(p,8);return u})()
await raw('STARTUP',su)
let b=n; await raw('EMIT',msg('Q',"select pg_logical_emit_message(true,'postrider','p')")); console.log('fsync delta',n-b)
await raw('LISTEN',msg('Q',"listen w")); await raw('NOTIFY',msg('Q',"notify w, 'x'")); await raw('sel',msg('Q',"select 1"))
await raw('NOTIFY in tx',msg('Q',"begin"));await raw('..',msg('Q',"notify w, 'y'"));await raw('commit',msg('Q',"commit"))
const sync=Buffer.from([0x53,0,0,0,4]), flush=Buffer.from([0x48,0,0,0,4])
const parse=Buffer.concat([Buffer.from('P'),Buffer.from([0,0,0,4+1+9+2]),Buffer.from('\0select 1\0\0\0','latin1')])
await raw('parse+flush',parse,flush); await raw('sync',sync); await raw('parse without',parse); await raw('sync',sync)
await raw('create',msg('Q',"create table if not exists t(i int, s text)"))
const F=Buffer.concat([Buffer.from('f'),Buffer.from([0,0,0,9]),Buffer.from('nope\0')]);
await raw('copy+f',msg('Q',"copy t from stdin"),F); await raw('sel+f',msg('Q',"select 1"),F);
const P=q=>{const b=Buffer.from('\0'+q+'\0\0\0','latin1');const h=Buffer.alloc(5);h[0]=0x50;h.writeInt32BE(b.length+4,1);return Buffer.concat([h,b])}
const B=Buffer.from([0x42,0,0,0,12,0,0,0,0,0,0,0,0]), E=Buffer.from([0x45,0,0,0,9,0,0,0,0,0]);
await raw('ext copy',P('copy t from stdin'),B,E,F,sync); await raw('ext sel',P('select 5'),B,E,F,sync); await raw('ext pipe',P('copy t from stdin'),B,E,F,P('select 6'),B,E,F,sync); await raw('ext E H',P('select 7'),B,E,F,flush);await raw('then S',sync)
await raw('after copy',msg('Q','select 1'))
await raw('copy in whole',msg('Q',"copy t from stdin"),Buffer.concat([Buffer.from('d'),Buffer.from([0,0,0,8]),Buffer.from('1\ta\n')]),Buffer.from([0x63,0,0,0,4])); await raw('after copy',msg('Q','select * from t'))
await raw('stray c',Buffer.from([0x63,0,0,0,4])); await raw('after',msg('Q','select 2'))
await raw('copy out',msg('Q','copy t to stdout'))
await raw('bad bind',Buffer.concat([Buffer.from('B'),Buffer.from([0,0,0,6,0,0])]),sync); await raw('after',msg('Q','select 3'))
await raw('ins',msg('Q',"insert into t select g,'x' from generate_series(1,5000) g")); await raw('del',msg('Q',"delete from t where i%2=0"))
await new Promise(r=>setTimeout(r,1200))
await raw('x',msg('Q','select 1'));
await raw('stats',msg('Q',"select relname, n_live_tup,n_dead_tup,n_mod_since_analyze from pg_stat_user_tables"));
await raw('vac',msg('Q',"vacuum (analyze) t"));await raw('stats',msg('Q',"select relname, n_live_tup,n_dead_tup,n_mod_since_analyze from pg_stat_user_tables"));
b=n;await raw('checkpoint',msg('Q',"checkpoint"));console.log('fsyncs in ckpt',n-b)

console.log(process.memoryUsage().rss/1e6, 'errs',errs.length)
t=performance.now(); await db.close(); console.log('close',performance.now()-t)
