CREATE TABLE "postrider"."rollups" (
	"name" text PRIMARY KEY NOT NULL,
	"done_until" timestamp with time zone NOT NULL
);

CREATE TABLE "postrider"."throughput_minutes" (
	"workspace_id" uuid NOT NULL,
	"minute" timestamp with time zone NOT NULL,
	"sent" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"retried" integer DEFAULT 0 NOT NULL,
	"uncertain" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "throughput_minutes_workspace_id_minute_pk" PRIMARY KEY("workspace_id","minute"),
	CONSTRAINT "throughput_minutes_counts" CHECK (sent >= 0 and failed >= 0 and retried >= 0 and uncertain >= 0)
);

DROP INDEX "postrider"."scheduled_actions_attention";
CREATE INDEX "attempts_at" ON "postrider"."attempts" USING btree ("at");
CREATE INDEX "scheduled_actions_emails_waiting" ON "postrider"."scheduled_actions" USING btree ("workspace_id","message_id") WHERE wake_at is not null and message_id is not null;
CREATE INDEX "scheduled_actions_emails_unsent" ON "postrider"."scheduled_actions" USING btree ("workspace_id","message_id") WHERE ended_unsent and message_id is not null;
CREATE INDEX "scheduled_actions_attention" ON "postrider"."scheduled_actions" USING btree ("workspace_id","message_id") WHERE needs_attention;